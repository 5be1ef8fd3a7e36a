import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = new URL('../../..', import.meta.url).pathname

/** Packs the command `shiplock` as docs/ci/README.md describes it. */
export function packCli(): { path: string; remove(): void } {
  const directory = mkdtempSync(join(tmpdir(), 'shiplock-cli-'))
  const args = ['pack', '--workspace', 'cli', '--json', '--pack-destination', directory]
  const [packed] = JSON.parse(
    execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }),
  )
  return { path: join(directory, packed.filename), remove: () => rmSync(directory, { recursive: true, force: true }) }
}
