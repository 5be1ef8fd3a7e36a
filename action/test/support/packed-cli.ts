import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const CLI = new URL('../../../cli', import.meta.url).pathname

/** Builds and packs the command `shiplock`, as docs/ci/README.md describes it. */
export function packCli(): { path: string; remove(): void } {
  const directory = mkdtempSync(join(tmpdir(), 'shiplock-cli-'))
  execFileSync(process.execPath, ['build.mjs', join(directory, 'dist')], { cwd: CLI, stdio: 'inherit' })
  const pack = ['pack', '--json', '--pack-destination', directory]
  const [packed] = JSON.parse(execFileSync('npm', pack, { cwd: join(directory, 'dist'), encoding: 'utf8' }))
  return { path: join(directory, packed.filename), remove: () => rmSync(directory, { recursive: true, force: true }) }
}
