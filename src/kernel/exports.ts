/** What `kernels.wasm` exports: the kernels of `assembly/`. */

/** Two codes: the least, and the greatest. */
type WriteBounds = (source: number, count: number, out: number) => void

/** The sum, and how many are added, to two doubles. */
type SumAllWhole = (source: number, base: number, count: number, out: number) => void

/** Of the selected rows; how many are taken. */
type LookUpCodes = (
  table: number,
  codes: number,
  selection: number,
  count: number,
  out: number,
) => number

type UpdateGroups = (
  values: number,
  groups: number,
  count: number,
  groupCount: number,
  lanes: number,
  states: number,
) => void

/** Places of arrays are bytes from the memory's start; counts are rows. */
export interface Kernels {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly lanesOfBits: { readonly value: number }
  readonly placesOfBits: { readonly value: number }
  readonly tablesEnd: { readonly value: number }
  selectTrue(values: number, count: number, out: number): number
  selectTrueWithin(values: number, selection: number, count: number, out: number): number
  selectBetweenWithin(
    values: number,
    low: number,
    high: number,
    selection: number,
    count: number,
    out: number,
  ): number
  pickNumbers(values: number, selection: number, count: number, out: number): void
  pickCodes(values: number, selection: number, count: number, out: number): void
  mapCodes(table: number, codes: number, count: number, out: number): number
  readonly mapCodesWithin: LookUpCodes
  combineCodes(
    left: number,
    leftBase: number,
    stride: number,
    right: number,
    rightBase: number,
    count: number,
    out: number,
  ): void
  numberCodes(
    table: number,
    codes: number,
    count: number,
    out: number,
    next: number,
    places: number,
  ): number
  recallCodes(
    numbers: number,
    codes: number,
    values: number,
    count: number,
    ofNull: number,
    out: number,
  ): number
  chooseRows(
    groups: number,
    selection: number,
    preferred: number,
    count: number,
    first: number,
    flip: number,
    kept: number,
    left: number,
    changedRows: number,
    changedGroups: number,
  ): number
  maskBetween(values: number, low: number, high: number, count: number, out: number): void
  maskOther(values: number, than: number, count: number, out: number): void
  maskCode(code: number, codes: number, count: number, out: number): void
  maskByCode(table: number, codes: number, count: number, out: number): void
  countWithin8(source: number, low: number, high: number, count: number): number
  countWithin16(source: number, low: number, high: number, count: number): number
  countWithin32(source: number, low: number, high: number, count: number): number
  maskWithin8(source: number, low: number, high: number, count: number, out: number): void
  maskWithin16(source: number, low: number, high: number, count: number, out: number): void
  maskWithin32(source: number, low: number, high: number, count: number, out: number): void
  maskByCode8(table: number, parts: number, source: number, count: number, out: number): void
  maskByCode16(table: number, source: number, count: number, out: number): void
  readonly boundsOf8: WriteBounds
  readonly boundsOf16: WriteBounds
  readonly boundsOf32: WriteBounds
  addCounts(
    width: number,
    source: number,
    groups: number,
    only: number,
    selection: number,
    count: number,
    shift: number,
    stride: number,
    counts: number,
  ): void
  countCodes(
    width: number,
    codes: number,
    count: number,
    size: number,
    lanes: number,
    counts: number,
  ): void
  readonly sumAllWhole8: SumAllWhole
  readonly sumAllWhole16: SumAllWhole
  readonly sumAllWhole32: SumAllWhole
  sumWhere(
    width: number,
    source: number,
    base: number,
    high: number,
    low: number,
    mask: number,
    least: number,
    greatest: number,
    count: number,
    kept: number,
    out: number,
  ): void
  sumWholeByGroup(
    width: number,
    source: number,
    base: number,
    groups: number,
    count: number,
    groupCount: number,
    lanes: number,
    sums: number,
  ): void
  sumDecimalsByGroup(
    width: number,
    source: number,
    base: number,
    high: number,
    mid: number,
    low: number,
    groups: number,
    count: number,
    laneShift: number,
    words: number,
  ): void
  settleDecimals(words: number, laneShift: number, groupCount: number, out: number): void
  extremesByGroup(
    width: number,
    flip: number,
    source: number,
    base: number,
    divisor: number,
    groups: number,
    count: number,
    groupCount: number,
    lanes: number,
    states: number,
  ): void
  sumBlocks(counts: number, blocks: number, out: number): void
  keepBoth(left: number, right: number, count: number): void
  keepEither(left: number, right: number, count: number): void
  keepOthers(mask: number, count: number): void
  countKept(mask: number, count: number): number
  compareBetween(values: number, low: number, high: number, count: number, out: number): void
  compareLess(left: number, right: number, count: number, out: number): void
  compareNotGreater(left: number, right: number, count: number, out: number): void
  compareEqual(left: number, right: number, count: number, out: number): void
  absentNumbers(values: number, count: number, out: number): void
  andInto(left: number, right: number, count: number): void
  orInto(left: number, right: number, count: number): void
  notOf(values: number, count: number, out: number): void
  expandBits(bits: number, shift: number, count: number, out: number): void
  addNumbers(left: number, right: number, count: number, out: number): void
  subtractNumbers(left: number, right: number, count: number, out: number): void
  multiplyNumbers(left: number, right: number, count: number, out: number): void
  divideNumbers(left: number, right: number, count: number, out: number): void
  negateNumbers(values: number, count: number, out: number): void
  floorNumbers(values: number, count: number, out: number): void
  ceilNumbers(values: number, count: number, out: number): void
  truncateTimes(times: number, size: number, origin: number, count: number, out: number): void
  spanOf(values: number, count: number, out: number): number
  chooseNumbers(conditions: number, left: number, right: number, count: number, out: number): void
  numbersOfTruths(values: number, count: number, out: number): void
  widenCodes8(source: number, count: number, out: number): void
  widenCodes16(source: number, count: number, out: number): void
  widenNumbers8(source: number, count: number, out: number): void
  widenNumbers16(source: number, count: number, out: number): void
  widenNumbers32(source: number, count: number, out: number): void
  scaleByReciprocal(values: number, count: number, base: number, high: number, low: number): void
  scaleNumbers(values: number, count: number, base: number, divisor: number): void
  compress(table: number, lowest: number, source: number, end: number, out: number): number
  decompress(source: number, sourceEnd: number, lowest: number, out: number, outEnd: number): number
  fillTable(table: number, lowest: number, end: number): void
  printRow(
    program: number,
    lengths: number,
    source: number,
    sourceEnd: number,
    derived: number,
    ranked: number,
    out: number,
  ): number
  writeDigits(source: number, byteLength: number, out: number): void
  writeUuids(source: number, count: number, out: number): void
  areSame(groups: number, count: number): number
  countRows(groups: number, count: number, counts: number): void
  countTrue(truths: number, groups: number, count: number, counts: number): void
  countNumbers(values: number, groups: number, count: number, counts: number): void
  minNumbers(values: number, groups: number, count: number, lowest: number): void
  maxNumbers(values: number, groups: number, count: number, highest: number): void
  countOfFew(groups: number, count: number, groupCount: number, lanes: number, counts: number): void
  greatestOf(values: number, count: number): number
  sumAll(
    values: number,
    count: number,
    bound: number,
    high: number,
    low: number,
    sum: number,
  ): number
  sumByGroup(
    values: number,
    groups: number,
    count: number,
    groupCount: number,
    lanes: number,
    bound: number,
    high: number,
    low: number,
    sums: number,
  ): number
  settleSums(sums: number, groupCount: number, unit: number, pairs: number): number
  restsOf(
    values: number,
    count: number,
    bound: number,
    high: number,
    low: number,
    out: number,
  ): void
  squareNumbers(
    values: number,
    count: number,
    least: number,
    most: number,
    outSquares: number,
    outRests: number,
  ): number
  readonly minOfFew: UpdateGroups
  readonly maxOfFew: UpdateGroups
  keepNumbers(values: number, count: number, out: number): number
  gatherByGroup(
    values: number,
    groups: number,
    count: number,
    groupCount: number,
    ends: number,
    out: number,
  ): number
  findBytes(
    haystack: number,
    from: number,
    end: number,
    needle: number,
    folds: number,
    length: number,
    first: number,
    second: number,
  ): number
  hashTexts(base: number, offsets: number, valid: number, count: number, out: number): void
  pickTexts(
    base: number,
    offsets: number,
    rows: number,
    count: number,
    out: number,
    ends: number,
  ): void
  singleTexts(
    base: number,
    offsets: number,
    valid: number,
    count: number,
    out: number,
    ends: number,
  ): number
  countBits(words: number, count: number): number
  addListedRows(code: number, count: number, lower: number, rows: number): void
  addNearRows(code: number, byteLength: number, rows: number): void
  scanWords(
    source: number,
    ends: number,
    rowCount: number,
    folds: number,
    classes: number,
    folded: number,
    words: number,
    states: number,
  ): void
  minAll(values: number, count: number): number
  maxAll(values: number, count: number): number
  countAll(values: number, count: number): number
  keepPresent(
    values: number,
    groups: number,
    count: number,
    outValues: number,
    outGroups: number,
  ): number
}
