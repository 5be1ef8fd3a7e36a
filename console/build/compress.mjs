// Writes the compressed forms of files beside them, so that the server compresses nothing itself.
import { globSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

/** Images and fonts are compressed already. The page differs in every response. */
const COMPRESSIBLE = 'assets/**/*.{css,js,json,svg,wasm}'
const BYTES_MIN = 1024

export async function compress(directory) {
  const names = globSync(COMPRESSIBLE, { cwd: directory })
  await Promise.all(names.map((name) => compressFile(join(directory, name))))
}

async function compressFile(path) {
  const body = await readFile(path)
  if (body.length < BYTES_MIN) return
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: body.length }
  await writeFile(`${path}.br`, await promisify(brotliCompress)(body, { params }))
  await writeFile(`${path}.gz`, await promisify(gzip)(body, { level: 9 }))
}
