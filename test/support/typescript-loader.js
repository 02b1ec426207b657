// Lets Node run the TypeScript sources, in worker threads too: `--import` of tsx itself registers
// its hooks in the main thread only (Node 20.20).
import { register } from 'tsx/esm/api'

register()
