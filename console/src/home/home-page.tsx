import { Code, Paper, SegmentedControl, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { IconCircleCheckFilled, IconCircleDashed } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api } from '../api/client.ts'
import { useOrganization, usePermission, useSession } from '../api/session.ts'
import { ButtonLink } from '../page/link.tsx'
import { Page } from '../page/page.tsx'
import { pages } from '../page/pages.ts'
import { IntelNotice } from '../security/facts/intel-notice.tsx'
import { organizationQuery } from '../settings/frame/queries.ts'
import { gatesQuery } from '../settings/gate/queries.ts'
import { IssueCharts, RunChart } from './charts/charts.tsx'
import { DeliveryCharts } from './charts/delivery-charts.tsx'
import classes from './facts/home.module.css'
import { DEFAULT_PERIOD, firstStepQueries, PERIODS } from './facts/queries.ts'
import { BrokenPanel } from './panels/broken-panel.tsx'
import { GatesToCheck, UrgentPanel, WaitingPanel } from './panels/panels.tsx'

const route = getRouteApi('/signed-in/orgs/$org/')
const LABELS = PERIODS.map((days) => ({ value: String(days), label: `${days} days` }))

/** What waits, what broke, what is urgent, and how delivery and security develop. */
export function HomePage() {
  const { slug: org } = useOrganization()
  const { days = DEFAULT_PERIOD } = route.useSearch()
  const navigate = route.useNavigate()
  const steps = useFirstSteps(org)
  const managesServer = usePermission('manage_integrations')
  return (
    <Page
      title="Home"
      actions={
        <SegmentedControl
          size="xs"
          aria-label="Period of the charts"
          data={LABELS}
          value={String(days)}
          onChange={(value) => void navigate({ search: { days: PERIODS.find((period) => String(period) === value) } })}
        />
      }
    >
      <GatesToCheck org={org} />
      {steps.isNew && <FirstSteps org={org} steps={steps} />}
      {!steps.isEmpty && (
        <Stack gap="lg">
          {managesServer && <IntelNotice of={['kev', 'epss', 'osv']} />}
          <div className={classes.panels}>
            <WaitingPanel org={org} />
            <BrokenPanel org={org} isUnknown={steps.hasRun === false} />
            <UrgentPanel org={org} isUnknown={steps.hasUpload === false} />
          </div>
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
            <RunChart org={org} days={days} />
            <DeliveryCharts org={org} days={days} />
            <IssueCharts org={org} days={days} />
          </SimpleGrid>
        </Stack>
      )}
    </Page>
  )
}

type FirstStepsProps = { org: string; steps: StepStates }

/** What to do with a new organization. Each step ticks itself. */
function FirstSteps({ org, steps: { hasUpload, hasRun, hasGate, managesGates } }: FirstStepsProps) {
  const managesHosts = usePermission('manage_integrations')
  const managesMembers = usePermission('manage_members')
  const managesPolicies = usePermission('manage_policies')
  const path = { org }
  const settings = useQuery({ ...organizationQuery(org), enabled: managesPolicies })
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
        {managesPolicies && (
          <Step
            isDone={settings.data && settings.data.data.default_trust !== null}
            title="Say how CI jobs identify themselves"
            action={<ButtonLink {...pages.general(org)}>Choose</ButtonLink>}
          >
            If all of them use OIDC tokens or a connected code host, policies need not accept reports of API keys.
          </Step>
        )}
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
        {managesGates && (
          <Step
            isDone={hasGate}
            title="Let people or policies approve deployments"
            action={<ButtonLink {...pages.newGate(org)}>Create a gate</ButtonLink>}
          >
            A gate for production holds a deployment until it is approved: <Code>npx shiplock gate open --wait</Code>.
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

/** What a new organization has done already. Undefined while it is not known. */
type StepStates = {
  hasUpload: boolean | undefined
  hasRun: boolean | undefined
  /** Nothing is there yet that Home could show. */
  isEmpty: boolean
  hasGate: boolean | undefined
  managesGates: boolean
  /** The first steps are shown: until there are runs, reports, and a gate for who can create one. */
  isNew: boolean
}

/** Which of the first steps are done. The live updates of runs and uploads tick them. */
function useFirstSteps(org: string): StepStates {
  const queries = firstStepQueries(org)
  const uploads = useQuery(queries.uploads)
  const runs = useQuery(queries.runs)
  const hasUpload = uploads.data && uploads.data.data.length > 0
  const hasRun = runs.data && runs.data.data.length > 0
  const managesGates = usePermission('manage_gates')
  const gates = useQuery({ ...gatesQuery(org), enabled: managesGates })
  const hasGate = gates.data && gates.data.data.length > 0
  return {
    hasUpload,
    hasRun,
    hasGate,
    managesGates,
    isEmpty: hasUpload === false && hasRun === false,
    isNew: hasUpload === false || hasRun === false || hasGate === false,
  }
}
