/** Reads one answer of HTTP/1.1, strictly: what is not framed as it should be is an error that says where. */
export class ChunkReader {
  /** Of what has come of it. */
  get body(): Buffer {
    return Buffer.concat(this.#body)
  }

  #text = Buffer.alloc(0)
  #state: 'head' | 'size' | 'bytes' | 'data' | 'end' | 'last' = 'head'
  #left = 0
  readonly #body: Buffer[] = []
  #bytes = 0

  /** Returns whether that was all of it. */
  read(bytes: Buffer): boolean {
    let rest = bytes
    while (rest.length > 0) {
      if (this.#state === 'data' || this.#state === 'bytes') {
        const part = rest.subarray(0, this.#left)
        this.#body.push(part)
        this.#bytes += part.length
        this.#left -= part.length
        rest = rest.subarray(part.length)
        if (this.#left > 0) return false
        if (this.#state === 'bytes') return true
        this.#state = 'end'
        continue
      }
      const ending = this.#state === 'head' ? '\r\n\r\n' : '\r\n'
      this.#text = Buffer.concat([this.#text, rest.subarray(0, 1)])
      rest = rest.subarray(1)
      if (this.#state !== 'head' && this.#text.length > 20) throw this.#fault()
      if (!this.#text.subarray(-ending.length).equals(Buffer.from(ending))) continue
      const line = this.#text.subarray(0, -ending.length).toString()
      if (this.#take(line)) return true
      this.#text = Buffer.alloc(0)
    }
    return false
  }

  #take(line: string): boolean {
    switch (this.#state) {
      case 'head': {
        const length = /^content-length: (\d+)$/im.exec(line)?.[1]
        this.#state = length === undefined ? 'size' : 'bytes'
        this.#left = Number(length)
        return length === '0'
      }
      case 'size':
        if (!/^[0-9a-f]+$/i.test(line)) throw this.#fault()
        this.#left = Number.parseInt(line, 16)
        this.#state = this.#left === 0 ? 'last' : 'data'
        return false
      default:
        if (line !== '') throw this.#fault()
        if (this.#state === 'last') return true
        this.#state = 'size'
        return false
    }
  }

  #fault(): Error {
    const found = JSON.stringify(this.#text.toString('latin1'))
    return new Error(`after ${this.#bytes} bytes of the body there is ${found}`)
  }
}
