import type { HostAlert } from '../codehosts/host-alert.ts'
import type { HostRepository } from '../codehosts/host-repository.ts'
import { DAY_MS } from '../platform/clock.ts'
import type { Demo, Step } from './world/demo.ts'
import { getComponents } from './world/packages.ts'
import { ADVISORIES, type Advisory } from './world/weaknesses.ts'

/** Alerts of the code host about four repositories: dependencies, code and secrets. */
export function makeAlertSteps(demo: Demo): Step[] {
  return ['checkout', 'payments', 'identity', 'mobile-gateway'].flatMap((name) => {
    const repository = demo.repositories.get(name) as HostRepository
    const alerts = makeAlerts(demo, name, repository)
    return alerts.map((alert) => ({
      at: alert.updated_at,
      async tell(told: Demo) {
        await told.apply({ kind: 'alert', data: alert })
        await told.settle()
      },
    }))
  })
}

function makeAlerts(demo: Demo, name: string, repository: HostRepository): HostAlert[] {
  const { random } = demo
  const at = (days: number) => new Date(demo.now.getTime() - days * DAY_MS)
  const known = ADVISORIES.filter((advisory) =>
    getComponents(name).some((component) => component.name === advisory.package),
  )
  const dependencies = known
    .filter(({ package: of }) => !of.startsWith('debian/'))
    .map((advisory, index) => dependencyAlert(repository, advisory, index + 1, at(6 + random.below(70))))
  const [first, second] = dependencies
  const code = alert(repository, { type: 'code_scanning', number: 1, detected_at: at(44), ...CODE })
  const secret = alert(repository, { type: 'secret_scanning', number: 1, detected_at: at(23), ...SECRET })
  return [
    ...dependencies,
    code,
    ...(name === 'checkout' ? [secret] : []),
    ...(first ? [{ ...first, status: 'fixed' as const, fixed_at: at(4), updated_at: at(4) }] : []),
    ...(second ? [dismissed(demo, second, at(3))] : []),
  ]
}

const CODE = {
  severity: 'high',
  title: 'Reflected cross-site scripting',
  description: 'Writing user input directly to a web page allows for a cross-site scripting vulnerability.',
  rule_id: 'js/reflected-xss',
  tool_name: 'CodeQL',
  tool_version: '2.18.1',
  cwes: ['CWE-79'],
  location: { path: 'src/routes/track.js', start_line: 77, end_line: 77, start_column: 3, end_column: 40 },
} satisfies Partial<HostAlert>

const SECRET = {
  severity: 'critical',
  title: 'Carrier API key',
  description: null,
  location: { path: 'config/carriers.json', start_line: 9, end_line: 9, start_column: 12, end_column: 44 },
  secret: {
    type: 'carrier_api_key',
    display_name: 'Carrier API key',
    value: 'example-key-that-opens-nothing',
    validity: 'inactive',
  },
} satisfies Partial<HostAlert>

type Known = Partial<HostAlert> & Pick<HostAlert, 'type' | 'number' | 'severity' | 'title' | 'detected_at'>

function alert(repository: HostRepository, fields: Known): HostAlert {
  const kind = { code_scanning: 'code-scanning', dependabot: 'dependabot', secret_scanning: 'secret-scanning' }[
    fields.type
  ]
  return {
    repository,
    status: 'open',
    description: null,
    url: `${repository.html_url}/security/${kind}/${fields.number}`,
    references: [],
    rule_id: null,
    tool_name: null,
    tool_version: null,
    cwes: [],
    package: null,
    cve_id: null,
    ghsa_id: null,
    advisory_url: null,
    cvss: null,
    location: null,
    commit_sha: null,
    git_ref: 'refs/heads/main',
    secret: null,
    fixed_at: null,
    dismissal: null,
    updated_at: fields.detected_at,
    ...fields,
  }
}

function dependencyAlert(repository: HostRepository, advisory: Advisory, number: number, detected_at: Date): HostAlert {
  const [group, name = group] = advisory.package.split('/').slice(-2) as [string, string?]
  const isMaven = advisory.package.startsWith('org.') || advisory.package.startsWith('com.')
  return alert(repository, {
    type: 'dependabot',
    number,
    severity: advisory.severity,
    title: advisory.title,
    detected_at,
    git_ref: null,
    description: advisory.title,
    tool_name: 'Dependabot',
    cwes: [`CWE-${advisory.cwe}`],
    cve_id: advisory.id,
    package: {
      ecosystem: isMaven ? 'maven' : repository.full_name.endsWith('/identity') ? 'pip' : 'npm',
      name: isMaven ? `${group}:${name}` : advisory.package,
      vulnerable_versions: `< ${advisory.fixed}`,
      patched_version: advisory.fixed,
      manifest_path: isMaven ? 'pom.xml' : 'package-lock.json',
    },
    cvss: { version: '3.1', score: advisory.score, vector: null },
  })
}

function dismissed(demo: Demo, open: HostAlert, at: Date): HostAlert {
  const by = demo.account('praman')
  const dismissal = { by, reason: 'tolerable_risk', comment: 'Only used by the build.', at }
  return { ...open, status: 'dismissed', dismissal, updated_at: at }
}
