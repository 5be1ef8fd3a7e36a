import { Text } from '@mantine/core'
import { useOrganization } from '../api/session.ts'
import { Facts } from '../page/facts.tsx'
import { ExternalLink, Link } from '../page/link.tsx'
import { pages } from '../page/pages.ts'
import { PersonName } from '../page/person.tsx'
import { Time } from '../page/time.tsx'
import { type Deployment, versionOf } from './deployment-state.ts'

/** What is deployed, from where, by whom, and where to look further. */
export function DeploymentFacts({ deployment }: { deployment: Deployment }) {
  const { slug: org } = useOrganization()
  const { branch, author, workflow_name, attempt, environment_url, html_url, created_at, deployed_at } = deployment
  const { commit_message, pipeline_run_id, superseded_by_id, previous_attempt_id } = deployment
  return (
    <Facts
      facts={[
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
        ['Replaces', previous_attempt_id && <OtherLink org={org} id={previous_attempt_id} label="Previous attempt" />],
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

function LineageLink({ org, id }: LinkProps) {
  return (
    <Link {...pages.lineage(org, id)} size="sm">
      Lineage and statements
    </Link>
  )
}
