/** Runs promises with a bound on how many are in flight. */

/** Results in the order in which they arrive. Stops starting tasks when the consumer leaves. */
export async function* unordered<T>(
  tasks: Iterable<() => Promise<T>> | AsyncIterable<() => Promise<T>>,
  maximum: number,
): AsyncGenerator<T> {
  const running = new Set<Promise<T>>()
  try {
    for await (const task of tasks) {
      const promise = begin(task)
      running.add(promise)
      if (running.size >= maximum) yield await take(running)
    }
    while (running.size > 0) yield await take(running)
  } finally {
    await settled(running)
  }
}

/** Whoever takes the result gets its error; while the consumer pauses, nobody does. */
function begin<T>(task: () => Promise<T>): Promise<T> {
  const promise = task()
  promise.catch(() => undefined)
  return promise
}

/** Waits for whichever is done first, and takes it out. */
async function take<T>(running: Set<Promise<T>>): Promise<T> {
  const wrapped = Array.from(running, (promise) => {
    const done = () => ({ promise })
    return promise.then(done, done)
  })
  const { promise } = await Promise.race(wrapped)
  running.delete(promise)
  return promise
}

/** Results in the order of the tasks. Stops starting tasks when the consumer leaves. */
export async function* inOrder<T>(
  tasks: Iterable<() => Promise<T>>,
  maximum: number,
): AsyncGenerator<T> {
  const running: Promise<T>[] = []
  try {
    for (const task of tasks) {
      running.push(begin(task))
      if (running.length >= maximum) yield await running.shift()!
    }
    while (running.length > 0) yield await running.shift()!
  } finally {
    await settled(running)
  }
}

/** Failures of tasks that nobody waits for any more are not errors of their own. */
async function settled(running: Iterable<Promise<unknown>>): Promise<void> {
  await Promise.allSettled(running)
}
