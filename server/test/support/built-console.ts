import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'

export const SCRIPT = `export const sentence = ${JSON.stringify('The console. '.repeat(200))}\n`

const PAGE = `<!doctype html>
<meta property="csp-nonce" content="__CSP_NONCE__">
<title>Shiplock</title>
<script type="module" src="/assets/main-B2xK9f.js"></script>
`

type StandIn = {
  directory: string
  /** Puts a build into the place of the one before, as the real build does. */
  build(files?: Record<string, string | Buffer>): Promise<void>
  remove(): Promise<void>
}

/** The directory of a console that no build wrote, so that tests of the server need none. */
export async function standInConsole(): Promise<StandIn> {
  const parent = await mkdtemp(join(tmpdir(), 'shiplock-console-'))
  const directory = join(parent, 'dist')
  await writeFile(join(parent, 'secret.txt'), 'outside of the console')
  let builds = 0
  const build = async (files: Record<string, string | Buffer> = {}) => {
    builds += 1
    const next = join(parent, `build-${builds}`)
    for (const [path, body] of Object.entries({ ...FILES, ...files })) {
      await mkdir(dirname(join(next, path)), { recursive: true })
      await writeFile(join(next, path), body)
    }
    await rm(directory, { recursive: true, force: true })
    await rename(next, directory)
  }
  return { directory, build, remove: () => rm(parent, { recursive: true, force: true }) }
}

const FILES = {
  'index.html': PAGE,
  '.built-from': 'outside of the console',
  'favicon.svg': '<svg xmlns="http://www.w3.org/2000/svg"></svg>',
  'assets/main-B2xK9f.js': SCRIPT,
  'assets/main-B2xK9f.js.br': brotliCompressSync(SCRIPT),
  'assets/main-B2xK9f.js.gz': gzipSync(SCRIPT),
  'assets/theme-C41aa0.css': 'body { margin: 0 }',
  'assets/font-D00d1e.woff2': Buffer.from([0x77, 0x4f, 0x46, 0x32]),
}
