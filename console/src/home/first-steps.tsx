import { Code, Paper, Text, Title } from '@mantine/core'
import { IconCircleCheckFilled, IconCircleDashed } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { api } from '../api/client.ts'
import { usePermission, useSession } from '../api/session.ts'
import { ButtonLink } from '../page/link.tsx'
import { pages } from '../page/pages.ts'
import classes from './home.module.css'
import type { StepStates } from './use-first-steps.ts'

type FirstStepsProps = { org: string; steps: StepStates }

/** What to do with a new organization. Each step ticks itself. */
export function FirstSteps({ org, steps: { hasUpload, hasRun } }: FirstStepsProps) {
  const managesHosts = usePermission('manage_integrations')
  const managesMembers = usePermission('manage_members')
  const path = { org }
  const hosts = api.useQuery('get', '/app/api/orgs/{org}/code-hosts', { params: { path } }, { enabled: managesHosts })
  const members = api.useQuery(
    'get',
    '/app/api/orgs/{org}/members',
    { params: { path, query: { limit: 2 } } },
    { enabled: managesMembers },
  )
  const hasDemo = useSession().organizations.some(({ is_demo }) => is_demo)
  return (
    <Paper component="section" aria-labelledby="first-steps" p="md">
      <Title order={2} id="first-steps">
        First steps
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        Home fills itself as soon as reports and runs arrive.
      </Text>
      <ul className={classes.items}>
        <Step
          isDone={hasUpload}
          title="Upload a security report"
          action={<ButtonLink {...pages.uploads(org)}>Upload a report</ButtonLink>}
        >
          SARIF, CycloneDX or SPDX, from any scanner. Drag the file into the page.
        </Step>
        <Step
          isDone={hasRun}
          title="Send a run from your CI"
          action={managesHosts && <ButtonLink {...pages.apiKeys(org)}>Create an API key</ButtonLink>}
        >
          With an API key: <Code>npx shiplock run start</Code>, or the Shiplock action in GitHub Actions.
        </Step>
        {managesHosts && (
          <Step
            isDone={hosts.data && hosts.data.data.length > 0}
            title="Connect a code host"
            action={<ButtonLink {...pages.codeHosts(org)}>Connect a code host</ButtonLink>}
          >
            GitHub, GitLab, Bitbucket or Azure DevOps: runs, deployments, pull requests and alerts are read from then
            on.
          </Step>
        )}
        {managesMembers && (
          <Step
            isDone={members.data && members.data.data.length > 1}
            title="Invite people"
            action={<ButtonLink {...pages.members(org)}>Invite people</ButtonLink>}
          >
            Each person has a role, which says what they may do.
          </Step>
        )}
        <Step
          isDone={hasDemo}
          title="Look at example data"
          action={hasDemo && <ButtonLink {...pages.home('demo')}>Open the example</ButtonLink>}
        >
          <Code>npx shiplock-server demo</Code> makes an organization with three months of a fictional team.
        </Step>
      </ul>
    </Paper>
  )
}

type StepProps = { isDone: boolean | undefined; title: string; action: ReactNode; children: ReactNode }

function Step({ isDone = false, title, action, children }: StepProps) {
  const Icon = isDone ? IconCircleCheckFilled : IconCircleDashed
  return (
    <li className={classes.step}>
      <Icon
        size={20}
        role="img"
        aria-label={isDone ? 'Done' : 'To do'}
        style={{ color: `var(--shiplock-${isDone ? 'success' : 'neutral'})`, flex: 'none' }}
      />
      <div className={classes.name}>
        <Text size="sm" fw={500}>
          {title}
        </Text>
        <Text size="xs" c="dimmed">
          {children}
        </Text>
      </div>
      {!isDone && action}
    </li>
  )
}
