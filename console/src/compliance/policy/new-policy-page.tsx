import { SimpleGrid, Stack, Text, UnstyledButton } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useOrganization, usePermission } from '../../api/session.ts'
import { ButtonLink, Link } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { Forbidden } from '../../page/states.tsx'
import { useDraft } from '../editor/use-draft.ts'
import classes from './new-policy-page.module.css'
import { PolicyEditor } from './policy-editor.tsx'
import { POLICY_TEMPLATES, type PolicyTemplate } from './policy-templates.ts'

const route = getRouteApi('/signed-in/orgs/$org/compliance/policies/new')

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
