/** The loops that take rows in, compiled by AssemblyScript to `../../rows.wasm`. */
export { addName, forgetNames } from './names'
export { forgetNamings, keepNaming } from './namings'
export { eventCount, forgetSeen } from './news'
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
  madeIds,
  mostInput,
  mostMadeIds,
  nowText,
  outPlace,
  ownInput,
  rowTable,
} from './places'
export { residualPathCount, residualPaths } from './residual-paths'
export {
  fillMadeIds,
  madeIdsLeft,
  newNameEnd,
  newNameStart,
  outEnd,
  scanOwnRow,
  scanRows,
  setNow,
  stoppedAt,
  stopReason,
} from './scan-rows'
export { beginShred, finishShred, shredRow } from './shred-rows'
