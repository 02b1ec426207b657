import { ByteWriter } from './byte-writer.ts'
import { JsonScanner } from './scan.ts'
import { decodeUtf8 } from './utf8.ts'

export interface Member {
  readonly name: string
  /** Compact, with numbers and strings as they are spelled. */
  readonly value: string
}

/** The members of the object that stands there, in their order. Throws what the scanner does; of another value there are none. */
export function* readMembers(bytes: Uint8Array, start: number, end: number): Generator<Member> {
  const scanner = new JsonScanner(bytes, start, end)
  if (!scanner.openObject()) return
  while (scanner.nextMember()) {
    const name = JSON.parse(decodeUtf8(bytes, scanner.keyStart, scanner.keyEnd)) as string
    const value = new ByteWriter(64)
    scanner.value(value)
    yield { name, value: decodeUtf8(value.view()) }
  }
}
