import { hash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import type { Encoding } from './console-headers.ts'

/** The newest build of the console. */
export type Console = {
  /** The page, with placeholders for its nonce. Null while nothing is built. */
  page(): Promise<string | null>
  file(path: string): Promise<ConsoleFile | null>
}

/** Follows the builds in a directory, which may appear and be replaced while the server runs. */
export function openConsole(directory: string): Console {
  let built: BuiltConsole | null = null
  let previous: BuiltConsole | null = null
  let reading: Promise<void> | undefined

  const readNewer = async () => {
    const newer = await readBuiltConsole(directory, built?.stamp)
    if (newer === null) return
    previous = built
    built = newer
  }
  const refresh = () => {
    reading ??= readNewer().finally(() => {
      reading = undefined
    })
    return reading
  }
  // Open pages load parts of the build before, until people load them again.
  const find = (path: string) => built?.files.get(path) ?? previous?.files.get(path) ?? null

  return {
    async page() {
      await refresh()
      return built?.page ?? null
    },
    async file(path) {
      const known = find(path)
      if (known !== null) return known
      await refresh()
      return find(path)
    },
  }
}

/** A file of the console, with the forms in which it was compressed when it was built. */
export type ConsoleFile = { type: string; sha256: string; bodies: Partial<Record<Encoding, Buffer>> }

/** One build of the console. `files` is by path, such as `/assets/main-B2x.js`. */
type BuiltConsole = { stamp: string; page: string; files: ReadonlyMap<string, ConsoleFile> }

const PAGE = 'index.html'
const ENDINGS: Partial<Record<string, Encoding>> = { '.br': 'br', '.gz': 'gzip' }
const TYPES: Partial<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.woff2': 'font/woff2',
}

/** A build that is replaced while it is read is read again. */
const READS_MAX = 3

/**
 * Reads a build whose stamp is not `known`. Null if there is none, or if it is the known one.
 *
 * All files are read at once, so that a request selects one of them and never names a path.
 */
async function readBuiltConsole(directory: string, known: string | undefined): Promise<BuiltConsole | null> {
  for (let reads = 0; reads < READS_MAX; reads += 1) {
    const stamp = await readStamp(directory)
    if (stamp === null || stamp === known) return null
    const files = await readFiles(directory).catch(ignoreMissing)
    if (files === null || stamp !== (await readStamp(directory))) continue
    const page = files.get(`/${PAGE}`)?.bodies.identity?.toString('utf8') ?? ''
    files.delete(`/${PAGE}`)
    return { stamp, page, files }
  }
  return null
}

/** Differs between builds, because every build is a new directory. */
async function readStamp(directory: string): Promise<string | null> {
  const page = await stat(join(directory, PAGE)).catch(ignoreMissing)
  return page && `${page.ino} ${page.mtimeMs}`
}

async function readFiles(directory: string): Promise<Map<string, ConsoleFile>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  // Hidden files are notes of the build.
  const shown = entries.filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
  const paths = shown.map(({ parentPath, name }) => join(parentPath, name))
  const files = new Map<string, ConsoleFile>()
  // Sorted, so that each file comes before its compressed forms.
  for (const path of paths.sort()) {
    const body = await readFile(path)
    const name = path.slice(directory.length).replaceAll('\\', '/')
    const encoding = ENDINGS[extname(name)] ?? 'identity'
    const address = encoding === 'identity' ? name : name.slice(0, -extname(name).length)
    const file = files.get(address)
    if (encoding !== 'identity' && file) file.bodies[encoding] = body
    else {
      const type = TYPES[extname(address)] ?? 'application/octet-stream'
      files.set(address, { type, sha256: hash('sha256', body), bodies: { identity: body } })
    }
  }
  return files
}

function ignoreMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
  throw error
}
