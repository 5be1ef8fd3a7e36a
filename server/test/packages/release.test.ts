import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, test } from 'node:test'
import { parse } from 'yaml'
import { releaseNotes } from '../../../release/release-notes.ts'
import { startTestApi } from '../support/api.ts'
import { installGoProgram } from '../support/install-go-program.ts'
import { networkEnvironment } from '../support/installed-packages.ts'
import { uploadReport } from '../support/reports.ts'
import { runSection } from '../support/runbook.ts'

const ROOT = new URL('../../..', import.meta.url).pathname
const directory = mkdtempSync(join(tmpdir(), 'shiplock-release-'))
after(() => rmSync(directory, { recursive: true, force: true }))

const VERSION: string = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version
const [first, second] = [join(directory, 'first'), join(directory, 'second')]
const release = (...args: string[]) =>
  spawnSync(process.execPath, [join(ROOT, 'release/main.ts'), ...args], { cwd: ROOT, encoding: 'utf8' })

for (const out of [first, second]) {
  const { status, stderr } = release('--version', VERSION, '--snapshot', '--out', out)
  assert.equal(status, 0, stderr)
}

test('a release has the files that the runbook lists, and the same tree gives the same bytes', () => {
  const names = globSync('*', { cwd: first }).sort()
  const files = ['shiplock-server', 'shiplock'].flatMap((name) => [
    `${name}-${VERSION}.tgz`,
    `${name}-${VERSION}.cdx.json`,
  ])
  assert.deepEqual(names, [...files, `shiplock-deploy-${VERSION}.tgz`, 'NOTES.md', 'SHA256SUMS'].sort())
  const sums = (out: string) => readFileSync(join(out, 'SHA256SUMS'), 'utf8')
  assert.equal(sums(first), sums(second))
})

test('a release is refused with another version than the tree has, and the mistakes name the files', () => {
  const { status, stderr } = release('--version', '99.0.0', '--snapshot', '--out', join(directory, 'refused'))
  assert.equal(status, 1)
  for (const path of ['server/package.json', 'cli/package.json', 'Chart.yaml', 'compose.yaml'])
    assert.match(stderr, new RegExp(`${path} is ${VERSION.replaceAll('.', '\\.')}, not 99\\.0\\.0`))
  assert.equal(release('--version', 'v1').status, 2)
})

test('the notes are the section of the version', () => {
  const changelog = '# Changelog\n\n## Unreleased\n\n## 1.1.0 (2026-01-02)\n\n- New.\n\n## [1.0.0]\n\n- First.\n'
  assert.equal(releaseNotes(changelog, '1.1.0'), '- New.\n')
  assert.equal(releaseNotes(changelog, '1.0.0'), '- First.\n')
  assert.equal(releaseNotes(changelog, 'Unreleased'), null)
  assert.equal(releaseNotes(changelog, '1.0'), null)
})

// biome-ignore lint/suspicious/noExplicitAny: a CycloneDX document
const sbomOf = (name: string): any => JSON.parse(readFileSync(join(first, `${name}-${VERSION}.cdx.json`), 'utf8'))

test('the server reads the SBOMs without a warning', async () => {
  const api = await startTestApi({})
  try {
    for (const name of ['shiplock-server', 'shiplock']) {
      const sbom = sbomOf(name)
      const upload = await uploadReport(api, await api.caller(), sbom, { filename: `${name}.cdx.json` })
      assert.equal(upload.status, 'finished', JSON.stringify(upload))
      assert.deepEqual(upload.warnings, [])
      assert.equal(upload.counts.components, sbom.components.length)
    }
  } finally {
    await api.close()
  }
})

test('the components are those of package-lock.json, with its checksums', () => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  const locked = new Map<string, string>()
  for (const [path, { version, integrity }] of Object.entries<{ version: string; integrity?: string }>(packages))
    if (path.includes('node_modules/')) locked.set(`${path.split('node_modules/').at(-1)}@${version}`, integrity ?? '')
  for (const name of ['shiplock-server', 'shiplock'])
    for (const { group, name: own, version, hashes = [] } of sbomOf(name).components) {
      const integrity = locked.get(`${group ? `${group}/` : ''}${own}@${version}`)
      assert.notEqual(integrity, undefined, `${own}@${version}`)
      // npm does not write a checksum where the registry gives none.
      const stated = hashes.map(({ content }: { content: string }) => Buffer.from(content, 'hex').toString('base64'))
      assert.deepEqual(stated, integrity ? [integrity.replace(/^sha512-/, '')] : [])
    }
})

test('the SBOM of the server has what npm would install, and what the console contains', () => {
  const refs = new Set(sbomOf('shiplock-server').components.map((component: { purl: string }) => component.purl))
  const args = ['ls', '--all', '--parseable', '--long', '--package-lock-only', '--omit=dev', '--workspace', 'server']
  const listed = execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8' }).trim().split('\n')
  const names = listed.flatMap((line) => /node_modules\/[^:]+:((?:@[^@/]+\/)?[^@/]+@[^:]+)/.exec(line)?.[1] ?? [])
  const expected = names.filter((name) => !name.startsWith('@shiplock/'))
  assert.ok(expected.length > 150)
  assert.deepEqual(
    expected.filter((name) => !refs.has(`pkg:npm/${name.replace(/^@/, '%40')}`)),
    [],
  )
  for (const name of ['react', 'react-dom', '%40mantine/core'])
    assert.ok(
      [...refs].some((ref) => String(ref).startsWith(`pkg:npm/${name}@`)),
      name,
    )
})

test('Check the files: sha256sum accepts every file', async () => {
  const { stdout } = await runSection('operations/install.md', 'Check the files', { cwd: first })
  assert.equal(stdout.trim().split('\n').length, globSync('*', { cwd: first }).length - 1)
})

test('npm: the package is installed from the release, and its program answers', async () => {
  const env = { ...networkEnvironment(), SHIPLOCK_DIR: join(directory, 'npm'), SHIPLOCK_RELEASE: first }
  const { stdout } = await runSection('operations/install.md', 'npm', { cwd: directory, env, replace: VERSIONS })
  assert.match(stdout, /usage: shiplock-server|shiplock-server <command>/)
})

/** The page is written for one version. */
const VERSIONS = { '0.1.0': VERSION }

test('Secrets: the files can be read by their owner only', async () => {
  const secrets = join(directory, 'secrets')
  await runSection('operations/install.md', 'Secrets', { cwd: directory, env: { SHIPLOCK_SECRETS: secrets } })
  assert.match(
    readFileSync(join(secrets, 'database-url'), 'utf8'),
    /^postgres:\/\/shiplock:[0-9a-f]{48}@postgres:5432\/shiplock\n$/,
  )
  assert.equal(execFileSync('stat', ['-c', '%a', join(secrets, 'secret-key')], { encoding: 'utf8' }), '600\n')
})

/** The archive of the release, unpacked. */
function unpack(name: string): string {
  const target = join(directory, name)
  mkdirSync(target)
  execFileSync('tar', ['-xzf', join(first, `shiplock-deploy-${VERSION}.tgz`), '-C', target, '--strip-components=1'])
  return target
}

test('Kubernetes: the chart of the release is accepted by helm', async () => {
  const helm = await installGoProgram({ package: 'helm.sh/helm/v3/cmd/helm', version: 'v3.22.0', what: 'helm' })
  const programs = join(directory, 'bin')
  mkdirSync(programs)
  symlinkSync(helm, join(programs, 'helm'))
  process.env.PATH = `${programs}${delimiter}${process.env.PATH}`
  const cwd = unpack('kubernetes')
  await runSection('operations/install.md', 'Kubernetes', { cwd })
  assert.match(readFileSync(join(cwd, 'manifests.yaml'), 'utf8'), /^kind: Deployment$/m)
})

test('systemd: the unit of the release has the stated rating', async () => {
  await runSection('operations/install.md', 'systemd', { cwd: unpack('systemd') })
})

test('what the runbook says about Docker and Kubernetes names files and values that exist', () => {
  const page = readFileSync(join(ROOT, 'docs/operations/install.md'), 'utf8')
  const blocks = [...page.matchAll(/```console\n([^`]+)```/g)].map(([, block]) => block ?? '').join('')
  const paths = [...blocks.matchAll(/(?<= )deploy\/\S+/g)]
    .map(([path]) => path)
    .filter((path) => !path.includes('/secrets/'))
  assert.ok(paths.length >= 5)
  const archive = unpack('archive')
  for (const path of paths) assert.equal(globSync(path, { cwd: archive }).length, 1, path)
  const values = parse(readFileSync(join(ROOT, 'deploy/helm/shiplock/values.yaml'), 'utf8'))
  for (const [, key = ''] of blocks.matchAll(/--set (\S+?)=/g))
    assert.notEqual(
      key.split('.').reduce((value, part) => value?.[part], values),
      undefined,
      key,
    )
})
