import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Schema } from '../../api/client.ts'
import { StatusBadge } from '../../page/badges.tsx'
import { Link } from '../../page/link.tsx'
import { pages } from '../../page/pages.ts'
import { titleOf } from '../../page/reported-text.ts'
import { Time } from '../../page/time.tsx'
import classes from '../facts/home.module.css'
import { brokenQueries } from '../facts/queries.ts'
import { type Broken, newestBroken } from './broken.ts'
import { Panel } from './panels.tsx'

const SHOWN = 5

/** The newest failures of default branches and of deployments. */
export function BrokenPanel({ org, isUnknown }: { org: string; isUnknown: boolean }) {
  const read = brokenQueries(org)
  const runs = useQuery(read.runs)
  const deployments = useQuery(read.deployments)
  const repositories = useQuery(read.repositories)
  const queries = [runs, deployments, repositories]
  const isLoaded = runs.data && deployments.data && repositories.data
  const items =
    isLoaded &&
    newestBroken({ runs: runs.data.data, deployments: deployments.data.data, repositories: repositories.data.data })
  return (
    <Panel
      title="Broken"
      items={items?.slice(0, SHOWN)}
      count={items && items.length > SHOWN ? `newest ${SHOWN}` : undefined}
      error={queries.find(({ error }) => error)?.error}
      retry={() => {
        for (const query of queries) void query.refetch()
      }}
      empty={isUnknown ? 'Nothing ran yet.' : 'Nothing failed recently.'}
      isUnknown={isUnknown}
      itemKey={({ key }) => key}
      more={
        <Link {...pages.runs(org)} search={{ status: 'failure' }} size="sm">
          All failed runs
        </Link>
      }
    >
      {(item) => <BrokenItem org={org} item={item} />}
    </Panel>
  )
}

function BrokenItem({ org, item }: { org: string; item: Broken }) {
  const shown = { fw: 500, size: 'sm', truncate: true, display: 'block' } as const
  return (
    <>
      <div className={classes.name}>
        {item.run ? (
          <Link {...pages.run(org, item.run.id)} {...shown}>
            <bdi>{titleOf(item.run)}</bdi>
          </Link>
        ) : (
          <Link {...pages.deployment(org, item.deployment.id)} {...shown}>
            <bdi>{describe(item.deployment)}</bdi>
          </Link>
        )}
        <Text size="xs" c="dimmed" className={classes.about}>
          <bdi>{item.repository}</bdi> · {item.run ? <bdi>{item.run.workflow_name}</bdi> : 'Deployment'} ·{' '}
          <Time at={item.at} />
        </Text>
      </div>
      <span className={classes.aside}>
        <StatusBadge status="failure" />
      </span>
    </>
  )
}

function describe({ repository, environment }: Schema<'Deployment'>): string {
  return `${repository} → ${environment}`
}
