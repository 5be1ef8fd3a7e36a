import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { PACKAGES_FILE } from './bundled-packages.mjs'
import { git, ROOT, readText } from './check-tree.ts'
import { findLocked, installedFor, readLockfile } from './lockfile.ts'
import { releaseNotes } from './release-notes.ts'
import { makeSbom } from './sbom.ts'

type Release = { version: string; out: string; snapshot: boolean }

/** What is published as a package. The names of its tarballs are npm's. */
const PACKAGES = [
  { name: '@shiplock/server', file: 'shiplock-server', workspace: 'server', packed: 'server', dist: 'dist/console' },
  { name: 'shiplock', file: 'shiplock', workspace: null, packed: 'cli/dist', dist: '' },
]

/** Writes all files of a release and returns their names. */
export function makeRelease({ version, out, snapshot }: Release): string[] {
  const directory = resolve(ROOT, out)
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  run('npm', ['run', '--silent', 'build', '--workspace', 'server', '--workspace', 'cli'])
  const at = new Date(Number(git('log', '-1', '--format=%ct')) * 1000)
  for (const made of PACKAGES) {
    run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', directory], join(ROOT, made.packed))
    writeSbom(directory, { ...made, version, at })
  }
  archiveDeployment(directory, version)
  const notes = releaseNotes(readText('CHANGELOG.md'), snapshot ? 'Unreleased' : version)
  writeFileSync(join(directory, 'NOTES.md'), notes ?? '')
  return writeChecksums(directory)
}

type Made = (typeof PACKAGES)[number] & { version: string; at: Date }

function writeSbom(directory: string, { name, file, workspace, packed, dist, version, at }: Made): void {
  const lockfile = readLockfile()
  const list: { name: string; version: string }[] = JSON.parse(readText(join(packed, dist, PACKAGES_FILE)))
  const bundled = list.map((found) => findLocked(lockfile, found.name, found.version))
  const sha256 = hash(join(directory, `${file}-${version}.tgz`))
  const license = JSON.parse(readText('package.json')).license
  const installed = workspace === null ? [] : installedFor(lockfile, workspace)
  const sbom = makeSbom({ name, version, license, sha256, at }, installed, bundled)
  writeFileSync(join(directory, `${file}-${version}.cdx.json`), `${JSON.stringify(sbom, null, 2)}\n`)
}

/** The files for containers, Kubernetes and systemd, and the runbook, as they are committed. */
function archiveDeployment(directory: string, version: string): void {
  const name = `shiplock-deploy-${version}`
  const output = join(directory, `${name}.tgz`)
  const paths = ['deploy', 'docs/operations.md', 'docs/operations', 'LICENSE']
  run('git', ['archive', '--format=tgz', `--prefix=${name}/`, `--output=${output}`, 'HEAD', ...paths])
}

function writeChecksums(directory: string): string[] {
  const files = readdirSync(directory).sort()
  const lines = files.map((file) => `${hash(join(directory, file))}  ${file}\n`)
  writeFileSync(join(directory, 'SHA256SUMS'), lines.join(''))
  return [...files, 'SHA256SUMS']
}

const hash = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')

/** Output of the programs is progress, so it goes to standard error. */
function run(program: string, args: string[], cwd = ROOT): void {
  execFileSync(program, args, { cwd, stdio: ['ignore', 2, 2] })
}
