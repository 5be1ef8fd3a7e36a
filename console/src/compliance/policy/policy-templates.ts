import coverageKept from '../../../../docs/policies/coverage-kept.yaml?raw'
import noKnownExploited from '../../../../docs/policies/no-known-exploited.yaml?raw'
import noOpenCritical from '../../../../docs/policies/no-open-critical.yaml?raw'
import reviewed from '../../../../docs/policies/reviewed.yaml?raw'
import sbomPresent from '../../../../docs/policies/sbom-present.yaml?raw'
import scanFresh from '../../../../docs/policies/scan-fresh.yaml?raw'
import testsPassed from '../../../../docs/policies/tests-passed.yaml?raw'

export type PolicyTemplate = { id: string; title: string; description: string; file: string }

/** The examples of the documentation, which start in monitor so that they block nothing yet. */
export const POLICY_TEMPLATES: PolicyTemplate[] = [
  template('tests-passed', 'Tests passed', 'A job of the run has reported passing tests.', testsPassed),
  template('no-open-critical', 'No critical findings', 'No critical finding is open.', noOpenCritical),
  template(
    'no-known-exploited',
    'No known exploited vulnerability',
    'No vulnerability with known exploits is open.',
    noKnownExploited,
  ),
  template('sbom-present', 'SBOM present', 'The run has attached a bill of materials.', sbomPresent),
  template('coverage-kept', 'Coverage kept', 'Test coverage does not drop below a minimum.', coverageKept),
  template('scan-fresh', 'Scan fresh', 'The repository was scanned within a week.', scanFresh),
  template('reviewed', 'Change reviewed', 'Someone other than the author approved the change.', reviewed),
  {
    id: 'empty',
    title: 'Empty policy',
    description: 'One rule that always passes.',
    file: `name: my-policy
mode: monitor
bindings:
  environments: [production]
rules:
  - rule: always
    name: Always passes
    expression: 'true'
`,
  },
]

function template(id: string, title: string, description: string, file: string): PolicyTemplate {
  const text = file.replace(/^# yaml-language-server:.*\n/, '').replace(/^mode: enforce/m, 'mode: monitor')
  return { id, title, description, file: text }
}
