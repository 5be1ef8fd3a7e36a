import { Grid, Group, Skeleton, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useRef } from 'react'
import { useOrganization } from '../api/session.ts'
import { ToneBadge } from '../page/badges.tsx'
import { Link } from '../page/link.tsx'
import { Page } from '../page/page.tsx'
import { pages } from '../page/pages.ts'
import { QueryView } from '../page/query-view.tsx'
import type { Decision } from './answer-options.ts'
import { AnswerPanel } from './answer-panel.tsx'
import classes from './deployment.module.css'
import { DeploymentFacts } from './deployment-facts.tsx'
import { type Deployment, fullStateOf } from './deployment-state.ts'
import { DeploymentStateBadge } from './deployment-state-badge.tsx'
import { GatesSection } from './gates-section.tsx'
import { PoliciesSection } from './policies-section.tsx'
import { decisionQuery, deploymentQuery } from './routes.ts'
import { timelineOf } from './timeline.ts'
import { TimelineSection } from './timeline-section.tsx'

const route = getRouteApi('/signed-in/orgs/$org/deployments/$id')

/** One deployment: what decides it, who decided, and the answers that the user can give. */
export function DeploymentPage() {
  const { slug: org } = useOrganization()
  const { id } = route.useParams()
  const deployment = useQuery(deploymentQuery(org, id))
  const decision = useQuery(decisionQuery(org, id))
  return (
    <Page
      title={deployment.data ? nameOf(deployment.data.data) : 'Deployment'}
      heading={deployment.data && <Name deployment={deployment.data.data} />}
      breadcrumbs={
        <Link {...pages.deployments(org)} size="sm">
          Deployments
        </Link>
      }
    >
      <QueryView query={deployment} of="deployment" skeleton={<DeploymentSkeleton />}>
        {(shown) => (
          <QueryView query={decision} of="gates and policies" skeleton={<DeploymentSkeleton />}>
            {(decided) => <Loaded deployment={shown.data} decision={decided.data} />}
          </QueryView>
        )}
      </QueryView>
    </Page>
  )
}

function nameOf({ repository_full_name, environment }: Deployment): string {
  return `${repository_full_name} to ${environment}`
}

/** Names from code hosts can change the direction of the text after them. */
function Name({ deployment: { repository_full_name, environment } }: { deployment: Deployment }) {
  return (
    <>
      <bdi>{repository_full_name}</bdi> to <bdi>{environment}</bdi>
    </>
  )
}

function Loaded({ deployment, decision }: { deployment: Deployment; decision: Decision }) {
  const state = useRef<HTMLDivElement>(null)
  return (
    <Stack gap="lg">
      <Group ref={state} tabIndex={-1} gap="xs" role="status" className={classes.state}>
        <DeploymentStateBadge state={fullStateOf(deployment)} size="lg" />
        {deployment.override && (
          <ToneBadge tone="failure" icon={IconAlertTriangle} size="lg">
            Policies overridden
          </ToneBadge>
        )}
        {deployment.bypass && (
          <ToneBadge tone="failure" icon={IconAlertTriangle} size="lg">
            Protection rules bypassed
          </ToneBadge>
        )}
        {deployment.custom_rule_awaiting === 'decision_not_delivered' && (
          <Text size="sm" c="dimmed">
            The code host has not accepted the decision yet. It is sent again for 24 hours.
          </Text>
        )}
      </Group>
      <AnswerPanel deployment={deployment} decision={decision} onAnswered={() => state.current?.focus()} />
      <DeploymentFacts deployment={deployment} />
      <Grid gap={{ base: 'lg', lg: 'xl' }}>
        <Grid.Col span={{ base: 12, lg: 8 }}>
          <Stack gap="xl">
            <GatesSection deployment={deployment} decision={decision} />
            <PoliciesSection deployment={deployment} decision={decision} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 4 }}>
          <TimelineSection entries={timelineOf(deployment, decision)} />
        </Grid.Col>
      </Grid>
    </Stack>
  )
}

function DeploymentSkeleton() {
  return (
    <Stack gap="lg" aria-hidden>
      <Skeleton height={26} width={180} />
      <Skeleton height={90} />
      <Skeleton height={110} />
      <Skeleton height={240} />
    </Stack>
  )
}
