/** A thread that fills so much memory and lets go of it, and tells how much it has in arrays. */
import { releaseWhenIdle } from '../../src/executor/thread/idle-memory.ts'

export default function waste(megabytes: number): number {
  try {
    const filled = Array.from({ length: megabytes }, () => Buffer.alloc(2 ** 20, 1))
    return process.memoryUsage().arrayBuffers + filled.length
  } finally {
    if (megabytes > 0) releaseWhenIdle()
  }
}
