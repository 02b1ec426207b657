import fc from 'fast-check'

/** Whether tests take as long as it takes, with cases that were never tried before. */
export const isSlow = process.env.ASSAY_SLOW === '1'

/**
 * Where random cases start from. It is the same for every run, so that a change is judged by what it
 * changes, unless the slow suite asks for new cases or `ASSAY_SEED` for those of an earlier run.
 */
export const randomSeed = Number(
  process.env.ASSAY_SEED ?? (isSlow ? Date.now() % 2 ** 31 : 20_261_121),
)

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: randomSeed })
