// `npm run build --workspace action`: writes dist/index.cjs, the action with all packages that it uses. The
// runner installs nothing, so the file is committed. A test compares it with the source.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build, type Metafile } from 'esbuild'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
export const BUNDLE = fileURLToPath(new URL('dist/index.cjs', import.meta.url))

if (import.meta.main) writeFileSync(BUNDLE, await bundleAction())

/** The text of dist/index.cjs. It depends only on the source and on package-lock.json. */
export async function bundleAction(): Promise<string> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['action/src/main.ts'],
    outfile: BUNDLE,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    tsconfigRaw: {},
    minify: true,
    keepNames: true,
    charset: 'utf8',
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'warning',
  })
  const [file] = outputFiles
  if (file === undefined) throw new Error('esbuild wrote no file')
  return file.text + licensesOf(metafile)
}

/** The licenses of the bundled packages, as a comment. */
function licensesOf({ inputs }: Metafile): string {
  const packages = Object.keys(inputs).map((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0])
  const notices = [...new Set(packages)].sort().map((path) => (path === undefined ? '' : noticeOf(path)))
  return `/*\nThis file contains the following packages.\n${notices.join('')}*/\n`
}

function noticeOf(path: string): string {
  const { name, version, license } = JSON.parse(readFileSync(`${ROOT}${path}/package.json`, 'utf8'))
  const file = readdirSync(ROOT + path).find((entry) => /^licen[cs]e/i.test(entry))
  if (file === undefined) throw new Error(`${name} has no license file`)
  const text = readFileSync(`${ROOT}${path}/${file}`, 'utf8').replaceAll('*/', '* /').trim()
  return `\n${name} ${version} (${license})\n\n${text}\n`
}
