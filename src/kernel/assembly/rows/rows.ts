/** The loops that take rows in, compiled by AssemblyScript to `../../rows.wasm`. */
export { addName, forgetNames } from './names'
export {
  packedEnds,
  packedFixed,
  packedLengths,
  packedLengthsBytes,
  packedMembers,
  packedMembersBytes,
  packedTable,
  packedTableBytes,
  packRows,
} from './pack-rows'
export {
  eventTable,
  inputPlace,
  mostInput,
  nowText,
  outPlace,
  rowTable,
} from './places'
export { residualPathCount, residualPaths } from './residual-paths'
export {
  eventCount,
  forgetNamings,
  forgetSeen,
  keepNaming,
  newNameEnd,
  newNameStart,
  outEnd,
  scanRows,
  setNow,
  stoppedAt,
  stopReason,
} from './scan-rows'
export { beginShred, finishShred, shredRow } from './shred-rows'
