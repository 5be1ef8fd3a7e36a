const BLOCK = 512
const NAME_BYTES_MAX = 100
const SIZE_MAX = 8 ** 11 - 1
const MODE = '0000600'

/** A file in a tar archive. `parts` has exactly `size` bytes. */
export type TarFile = { name: string; size: number; modified_at: Date; parts: AsyncIterable<Uint8Array> }

/**
 * The bytes of a tar archive (POSIX.1-1988 ustar). Names have up to 100 bytes. Throws if a file has
 * another size than it states.
 */
export async function* encodeTar(files: AsyncIterable<TarFile>): AsyncGenerator<Uint8Array> {
  for await (const file of files) {
    yield header(file)
    let written = 0
    for await (const part of file.parts) {
      written += part.byteLength
      yield part
    }
    if (written !== file.size) throw new Error(`${file.name} has ${written} bytes instead of ${file.size}.`)
    yield Buffer.alloc((BLOCK - (file.size % BLOCK)) % BLOCK)
  }
  yield Buffer.alloc(2 * BLOCK)
}

function header({ name, size, modified_at }: TarFile): Buffer {
  if (Buffer.byteLength(name) > NAME_BYTES_MAX) throw new Error(`The name ${name} is too long for a tar archive.`)
  if (size > SIZE_MAX) throw new Error(`${name} is too large for a tar archive.`)
  const block = Buffer.alloc(BLOCK)
  block.write(name, 0)
  block.write(MODE, 100)
  block.write(octal(0, 7), 108)
  block.write(octal(0, 7), 116)
  block.write(octal(size, 11), 124)
  block.write(octal(Math.floor(modified_at.getTime() / 1000), 11), 136)
  // The checksum counts its own field as spaces.
  block.write('        ', 148)
  block.write('0', 156)
  block.write('ustar\u000000', 257)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${octal(sum, 6)}\u0000 `, 148)
  return block
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0')
}
