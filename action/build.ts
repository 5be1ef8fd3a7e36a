// `npm run build --workspace action`: writes dist/index.mjs, the action with all packages that it uses. The
// runner installs nothing, so the file is committed. A test compares it with the source.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build, type Metafile } from 'esbuild'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
export const BUNDLE = fileURLToPath(new URL('dist/index.mjs', import.meta.url))

if (import.meta.main) writeFileSync(BUNDLE, await bundleAction())

/** The text of dist/index.mjs. It depends only on the source and on package-lock.json. */
export async function bundleAction(): Promise<string> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['action/src/main.ts'],
    outfile: BUNDLE,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    // Packages in CommonJS require the modules of Node.
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
    tsconfigRaw: {},
    minify: true,
    keepNames: true,
    charset: 'utf8',
    // Only a proxy that is asked for Kerberos would need it.
    external: ['kerberos'],
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

/** The name of a package, and the text of its license. Some packages have only the name of the license. */
function noticeOf(path: string): string {
  const { name, version, license, author } = JSON.parse(readFileSync(`${ROOT}${path}/package.json`, 'utf8'))
  const file = readdirSync(ROOT + path).find((entry) => /^licen[cs]e/i.test(entry))
  const text = file === undefined ? `By ${author}` : readFileSync(`${ROOT}${path}/${file}`, 'utf8')
  return `\n${name} ${version} (${license})\n\n${text.replaceAll('*/', '* /').trim()}\n`
}
