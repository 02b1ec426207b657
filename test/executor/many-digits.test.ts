/** A number with more digits than a double has is printed as it was sent, wherever it is stored by then. */
import { expect, test } from 'vitest'
import { readGoldenFiles } from '../support/golden-file.ts'
import { readAnswer } from '../support/slt-answer.ts'
import { GoldenStore, startRun, storageStates } from '../support/slt-runner.ts'

const file = readGoldenFiles().find(({ name }) => name === 'select/many-digits')!

test.each(storageStates)('%s', async (state) => {
  const store = await GoldenStore.open({ state, workers: 0 })
  try {
    const run = startRun(store, file)
    const [insert, query] = file.blocks.filter(({ kind }) => kind !== 'comment')
    await run.run(insert!)
    await run.run(query!)
    const { rows } = await readAnswer(await run.ask(query!, { separator: '\n' }))
    expect(rows).toEqual([
      '{"id":"a","input":12345.678901234567890123456,"d":0.123456789012345678901,"scores":{"s":0.10000000000000000001}}',
      '{"id":"b","input":0.5,"d":0.25,"scores":{"s":0.75}}',
      '{"id":"c","input":-1.2345678901234567890e-3,"d":1.5,"scores":{"s":0.3}}',
    ])
  } finally {
    await store.close()
  }
})
