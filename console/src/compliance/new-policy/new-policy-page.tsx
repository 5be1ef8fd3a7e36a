import { SimpleGrid, Stack, Text, UnstyledButton } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import coverageKept from '../../../../docs/policies/coverage-kept.yaml?raw'
import noKnownExploited from '../../../../docs/policies/no-known-exploited.yaml?raw'
import noOpenCritical from '../../../../docs/policies/no-open-critical.yaml?raw'
import reviewed from '../../../../docs/policies/reviewed.yaml?raw'
import sbomPresent from '../../../../docs/policies/sbom-present.yaml?raw'
import scanFresh from '../../../../docs/policies/scan-fresh.yaml?raw'
import testsPassed from '../../../../docs/policies/tests-passed.yaml?raw'
import { useOrganization, usePermission } from '../../api/session.ts'
import { ButtonLink, Link } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { Forbidden } from '../../page/states.tsx'
import { useDraft } from '../editor/policy-draft.ts'
import classes from './new-policy-page.module.css'
import { PolicyEditor } from './policy-editor.tsx'

const route = getRouteApi('/signed-in/orgs/$org/compliance/policies/new')

/** The examples of the documentation, which start in monitor so that they block nothing yet. */
const POLICY_TEMPLATES: PolicyTemplate[] = [
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

/** A new policy of the organization, from a template. */
export function NewPolicyPage() {
  const { slug: org } = useOrganization()
  const { template: id } = route.useSearch()
  const mayManage = usePermission('manage_policies')
  const template = POLICY_TEMPLATES.find((each) => each.id === id)
  return (
    <Page
      title="New policy"
      description={
        template ? undefined : 'Choose what to start from. Each template only monitors, so it blocks nothing yet.'
      }
      breadcrumbs={[
        <Link key="compliance" {...pages.results(org)} size="sm">
          Compliance
        </Link>,
        <Link key="policies" {...pages.policies(org)} size="sm">
          Policies
        </Link>,
      ]}
      actions={template && <ButtonLink {...pages.newPolicy(org)}>Other template</ButtonLink>}
    >
      {!mayManage && <Forbidden permission="manage_policies" />}
      {mayManage && template && <NewPolicyEditor key={template.id} org={org} template={template} />}
      {mayManage && !template && <Templates />}
    </Page>
  )
}

function Templates() {
  const navigate = route.useNavigate()
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
      {POLICY_TEMPLATES.map(({ id, title, description }) => (
        <UnstyledButton
          key={id}
          className={classes.template}
          onClick={() => void navigate({ search: { template: id } })}
        >
          <Stack gap={4}>
            <Text fw={500}>{title}</Text>
            <Text size="sm" c="dimmed">
              {description}
            </Text>
          </Stack>
        </UnstyledButton>
      ))}
    </SimpleGrid>
  )
}

function NewPolicyEditor({ org, template }: { org: string; template: PolicyTemplate }) {
  const navigate = route.useNavigate()
  const draft = useDraft(`policy-draft ${org} new ${template.id}`, { version: 0, file: '' }, template.file)
  return (
    <PolicyEditor
      draft={draft}
      policy={null}
      onApplied={(id) => void navigate({ ...pages.policy(org, id), ignoreBlocker: true })}
    />
  )
}

type PolicyTemplate = { id: string; title: string; description: string; file: string }

function template(id: string, title: string, description: string, file: string): PolicyTemplate {
  const text = file.replace(/^# yaml-language-server:.*\n/, '').replace(/^mode: enforce/m, 'mode: monitor')
  return { id, title, description, file: text }
}
