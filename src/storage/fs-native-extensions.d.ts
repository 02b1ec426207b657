/** What is used of the package, which has no types. */
declare module 'fs-native-extensions' {
  /** False while another process has locked the file. Throws where the system has no such locks. */
  export function tryLock(file: number): boolean
  /** Makes a hole. Throws where the system or the file system has none. */
  export function trimSync(file: number, offset: number, length: number): void
}
