/** The loops that run over every row, compiled by AssemblyScript to `../kernels.wasm`. */
export {
  areSame,
  countAll,
  countNumbers,
  countRows,
  countTrue,
  keepNumbers,
  keepPresent,
  maxAll,
  maxNumbers,
  minAll,
  minNumbers,
} from './aggregate'
export {
  addNumbers,
  ceilNumbers,
  chooseNumbers,
  divideNumbers,
  floorNumbers,
  multiplyNumbers,
  negateNumbers,
  numbersOfTruths,
  spanOf,
  subtractNumbers,
  truncateTimes,
} from './arithmetic'
export { countCodes } from './code-counts'
export { writeDigits, writeUuids } from './digits'
export {
  countOfFew,
  gatherByGroup,
  maxOfFew,
  minOfFew,
} from './few-groups'
export { chooseRows, numberCodes, recallCodes } from './groups'
export { compress, decompress, fillTable } from './lz4'
export {
  countKept,
  keepBoth,
  keepEither,
  keepOthers,
  maskBetween,
  maskByCode,
  maskCode,
  maskOther,
} from './mask'
export { lanesOfBits, placesOfBits, tablesEnd } from './memory'
export {
  extremesByGroup,
  settleDecimals,
  sumDecimalsByGroup,
  sumWholeByGroup,
} from './narrow-groups'
export {
  countWithin8,
  countWithin16,
  countWithin32,
  maskByCode8,
  maskByCode16,
  maskWithin8,
  maskWithin16,
  maskWithin32,
} from './narrow-mask'
export { sumAllWhole8, sumAllWhole16, sumAllWhole32, sumWhere } from './narrow-sums'
export { addCounts, boundsOf8, boundsOf16, boundsOf32, sumBlocks } from './number-counts'
export { printRow } from './print-row'
export { addListedRows, addNearRows, countBits } from './row-lists'
export {
  combineCodes,
  mapCodes,
  mapCodesWithin,
  pickCodes,
  pickNumbers,
  selectBetweenWithin,
  selectTrue,
  selectTrueWithin,
} from './select'
export { greatestOf, restsOf, settleSums, squareNumbers, sumAll, sumByGroup } from './sums'
export { findBytes } from './text'
export { hashTexts, pickTexts, singleTexts } from './texts'
export {
  absentNumbers,
  andInto,
  compareBetween,
  compareEqual,
  compareLess,
  compareNotGreater,
  expandBits,
  notOf,
  orInto,
} from './truth'
export {
  scaleByReciprocal,
  scaleNumbers,
  widenCodes8,
  widenCodes16,
  widenNumbers8,
  widenNumbers16,
  widenNumbers32,
} from './widen'
export { scanWords } from './words'
