import { Grid, Group, Skeleton, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useRef } from 'react'
import { useOrganization } from '../../api/session.ts'
import { PersonName, ToneBadge } from '../../page/badges.tsx'
import { ExternalLink, Link } from '../../page/link.tsx'
import { EXPOSURE_NAMES } from '../../page/names.ts'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { isWholeSha, RepositoryLink } from '../../page/repository.tsx'
import { Facts } from '../../page/sections.tsx'
import { QueryView } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import type { Decision } from '../answers/answer-options.ts'
import { AnswerPanel } from '../answers/answer-panel.tsx'
import { DeploymentStateBadge } from '../facts/deployment-parts.tsx'
import { type Deployment, fullStateOf, versionOf } from '../facts/deployment-state.ts'
import { decisionQuery, deploymentQuery } from '../facts/queries.ts'
import { GatesSection, PoliciesSection, TimelineSection } from './decision-sections.tsx'
import classes from './deployment.module.css'
import { LiveState, SubjectsSection } from './live-section.tsx'
import { findWaitAgain, timelineOf } from './timeline.ts'

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
        <LiveState deployment={deployment} />
        {deployment.override && (
          <ToneBadge tone="failure" icon={IconAlertTriangle} size="lg">
            Policies overridden
          </ToneBadge>
        )}
        {deployment.self_approved && (
          <ToneBadge tone="waiting" icon={IconAlertTriangle} size="lg">
            Approved by who opened it
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
      <WaitsAgain deployment={deployment} decision={decision} />
      <AnswerPanel deployment={deployment} decision={decision} onAnswered={() => state.current?.focus()} />
      <DeploymentFacts deployment={deployment} />
      <SubjectsSection deployment={deployment} />
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

type WaitsAgainProps = { deployment: Deployment; decision: Decision }

/** Why a deployment waits that was approved before. */
function WaitsAgain({ deployment, decision }: WaitsAgainProps) {
  const asked = findWaitAgain(deployment, decision)
  if (asked === null) return null
  return (
    <Text size="sm">
      Waits again since <Time at={asked.at} />
      {asked.reason && <bdi>{` because: ${asked.reason}`}</bdi>}
    </Text>
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

/** What is deployed, from where, by whom, and where to look further. */
function DeploymentFacts({ deployment }: { deployment: Deployment }) {
  const { slug: org } = useOrganization()
  const { branch, commit_sha, author, workflow_name, attempt, environment_url, html_url, created_at, deployed_at } =
    deployment
  const {
    repository_full_name,
    provider,
    exposure,
    commit_message,
    pipeline_run_id,
    superseded_by_id,
    previous_attempt_id,
  } = deployment
  return (
    <Facts
      facts={[
        ['Repository', <RepositoryLink key="repository" name={repository_full_name} provider={provider} />],
        ['Environment', <EnvironmentLink key="environment" org={org} deployment={deployment} />],
        ['Exposure', EXPOSURE_NAMES[exposure]],
        ['Version', <Version key="version" deployment={deployment} />],
        ['Branch', branch],
        ['Commit message', commit_message && <Message key="message" text={commit_message} />],
        ['Started by', author && <PersonName name={author} />],
        ['Workflow', workflow_name && (attempt > 1 ? `${workflow_name}, attempt ${attempt}` : workflow_name)],
        ['Opened', <Time key="opened" at={created_at} />],
        ['Deployed', deployed_at && <Time at={deployed_at} />],
        ['Run', pipeline_run_id && <RunLink org={org} id={pipeline_run_id} />],
        ['CI system', html_url && <ExternalLink href={html_url}>Open the run there</ExternalLink>],
        ['Running at', environment_url && <ExternalLink href={environment_url}>{environment_url}</ExternalLink>],
        ['Replaced by', superseded_by_id && <OtherLink org={org} id={superseded_by_id} label="Newer deployment" />],
        [
          'Replaces',
          previous_attempt_id && <OtherLink org={org} id={previous_attempt_id} label="Earlier deployment" />,
        ],
        [
          'Change',
          commit_sha && isWholeSha(commit_sha) ? <ChangeLink key="change" org={org} commit={commit_sha} /> : null,
        ],
        ['Provenance', <LineageLink key="lineage" org={org} id={deployment.id} />],
      ]}
    />
  )
}

function Version({ deployment }: { deployment: Deployment }) {
  const { version, commit_sha } = deployment
  return (
    <>
      {versionOf(deployment)}
      {version !== null && commit_sha !== null && <Text span size="xs" c="dimmed">{` ${commit_sha.slice(0, 7)}`}</Text>}
    </>
  )
}

function Message({ text }: { text: string }) {
  return (
    <Text span size="sm" lineClamp={2} title={text}>
      <bdi>{text}</bdi>
    </Text>
  )
}

type LinkProps = { org: string; id: string }

function RunLink({ org, id }: LinkProps) {
  return (
    <Link {...pages.run(org, id)} size="sm">
      Open the run
    </Link>
  )
}

function OtherLink({ org, id, label }: LinkProps & { label: string }) {
  return (
    <Link {...pages.deployment(org, id)} size="sm">
      {label}
    </Link>
  )
}

/** Other deployments of the repository to the environment. */
function EnvironmentLink({ org, deployment }: { org: string; deployment: Deployment }) {
  const { environment, repository_full_name: repository } = deployment
  return (
    <Link {...pages.deployments(org)} search={{ view: 'list', environment, repository }} size="sm">
      <bdi>{environment}</bdi>
    </Link>
  )
}

function ChangeLink({ org, commit }: { org: string; commit: string }) {
  return (
    <Link {...pages.changes(org)} search={{ commit }} size="sm">
      Changes with this commit
    </Link>
  )
}

function LineageLink({ org, id }: LinkProps) {
  return (
    <Link {...pages.lineage(org, id)} size="sm">
      Lineage and statements
    </Link>
  )
}
