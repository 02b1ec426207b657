// Lets Node run the TypeScript sources in a process of tests. With Node 20, each of its threads has hooks of its own,
// and can do with less.
import { register } from 'node:module'
import { isMainThread } from 'node:worker_threads'

if (isMainThread || !process.version.startsWith('v20.')) await import('./typescript-loader.js')
else register('./thread-modules.js', import.meta.url)
