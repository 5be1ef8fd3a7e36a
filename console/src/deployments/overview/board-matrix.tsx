import { Button, Group, Stack, Text, VisuallyHidden } from '@mantine/core'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, useRef, useState } from 'react'
import { useOrganization } from '../../api/session.ts'
import { Link } from '../../page/link.tsx'
import { pages } from '../../page/pages.ts'
import { ScrollBox } from '../../page/sections.tsx'
import { Time } from '../../page/time.tsx'
import type { BoardCell, BoardDeployment, BoardRow } from '../facts/board.ts'
import { DeploymentStateBadge } from '../facts/deployment-parts.tsx'
import { stateOf, versionOf } from '../facts/deployment-state.ts'
import classes from './board.module.css'

const ROW_HEIGHT = 78
const COLUMNS_MAX = 8

type BoardMatrixProps = { rows: BoardRow[]; environments: string[] }

/**
 * A row for each repository and a column for each environment; on a narrow screen a card for each
 * repository. Only the rows on the screen are drawn.
 */
export function BoardMatrix({ rows, environments }: BoardMatrixProps) {
  const [showsAll, setShowsAll] = useState(false)
  const shown = showsAll ? environments : environments.slice(0, COLUMNS_MAX)
  const hidden = environments.length - shown.length
  return (
    <div>
      <ScrollBox label="Board of deployments" className={classes.scroll}>
        <Matrix rows={rows} environments={shown} />
      </ScrollBox>
      {hidden > 0 && (
        <Group mt="xs">
          <Button size="xs" variant="default" onClick={() => setShowsAll(true)}>
            Show {hidden} more {hidden === 1 ? 'environment' : 'environments'}
          </Button>
        </Group>
      )}
    </div>
  )
}

function Matrix({ rows, environments }: BoardMatrixProps) {
  const body = useRef<HTMLDivElement>(null)
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_HEIGHT,
    overscan: 6,
    scrollMargin: body.current?.getBoundingClientRect().top ? body.current.offsetTop : 0,
    getItemKey: (index) => rows[index]?.repository ?? index,
  })
  const items = virtual.getVirtualItems().filter(({ index }) => index < rows.length)
  return (
    <div
      role="table"
      aria-label="What runs where"
      aria-rowcount={rows.length + 1}
      className={classes.matrix}
      style={{ '--environments': environments.length } as CSSProperties}
    >
      <div role="rowgroup">
        <div role="row" aria-rowindex={1} className={classes.header}>
          <div role="columnheader">Repository</div>
          {environments.map((environment) => (
            <div key={environment} role="columnheader" title={environment} className={classes.environment}>
              {environment}
            </div>
          ))}
        </div>
      </div>
      <div role="rowgroup" ref={body} className={classes.body} style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, key, start }) => (
          <div
            key={key}
            ref={virtual.measureElement}
            data-index={index}
            role="row"
            aria-rowindex={index + 2}
            className={classes.row}
            style={{ transform: `translateY(${start - virtual.options.scrollMargin}px)` }}
          >
            <RepositoryCells row={rows[index] as BoardRow} environments={environments} />
          </div>
        ))}
      </div>
    </div>
  )
}

function RepositoryCells({ row, environments }: { row: BoardRow; environments: string[] }) {
  const [owner, name] = splitName(row.repository)
  return (
    <>
      <div role="rowheader" className={classes.repository} title={row.repository}>
        <Text size="sm" fw={600} truncate>
          <Text span size="sm" c="dimmed" fw={400}>
            {owner}
          </Text>
          {name}
        </Text>
      </div>
      {environments.map((environment) => (
        <BoardPlace key={environment} environment={environment} place={row.cells.get(environment)} />
      ))}
    </>
  )
}

/** "acme/" and "api". */
function splitName(repository: string): [owner: string, name: string] {
  const end = repository.lastIndexOf('/') + 1
  return [repository.slice(0, end), repository.slice(end)]
}

/** What runs in one environment of a repository, and the newer deployment, if there is one. */
function BoardPlace({ environment, place }: { environment: string; place: BoardCell | undefined }) {
  return (
    <div role="cell" className={classes.place} data-empty={place === undefined || undefined}>
      <Text size="xs" c="dimmed" className={classes.label}>
        {environment}
      </Text>
      {place === undefined ? <Nothing /> : <Place place={place} />}
    </div>
  )
}

function Nothing() {
  return (
    <Text size="sm" c="dimmed">
      <span aria-hidden>–</span>
      <VisuallyHidden>No deployments</VisuallyHidden>
    </Text>
  )
}

function Place({ place: { running, newer, beside } }: { place: BoardCell }) {
  return (
    <Stack gap={4} align="flex-start" miw={0} w="100%">
      {running ? <Running deployment={running} /> : <NothingRuns />}
      {beside.map((deployment) => (
        <Running key={deployment.id} deployment={deployment} />
      ))}
      {newer && <Newer deployment={newer} />}
    </Stack>
  )
}

function Running({ deployment }: { deployment: BoardDeployment }) {
  const { slug: org } = useOrganization()
  const { id, branch, author, commit_message, deployed_at, created_at } = deployment
  return (
    <Stack gap={0} miw={0} maw="100%">
      <Group gap={6} wrap="nowrap" miw={0}>
        <Link
          {...pages.deployment(org, id)}
          size="sm"
          fw={500}
          truncate
          title={commit_message ?? undefined}
          className={classes.version}
        >
          {versionOf(deployment)}
        </Link>
        {branch && (
          <Text size="xs" c="dimmed" truncate title={branch}>
            {branch}
          </Text>
        )}
      </Group>
      <Text size="xs" c="dimmed" truncate>
        <Time at={deployed_at ?? created_at} />
        {author && ` · ${author}`}
      </Text>
    </Stack>
  )
}

function NothingRuns() {
  return (
    <Text size="xs" c="dimmed">
      Nothing runs
    </Text>
  )
}

function Newer({ deployment }: { deployment: BoardDeployment }) {
  const { slug: org } = useOrganization()
  const { id, created_at } = deployment
  return (
    <Group gap={6} maw="100%">
      <DeploymentStateBadge state={stateOf(deployment)} />
      <Group gap={6}>
        <Link {...pages.deployment(org, id)} size="xs" className={classes.version}>
          {versionOf(deployment)}
        </Link>
        <Text size="xs" c="dimmed">
          <Time at={created_at} />
        </Text>
      </Group>
    </Group>
  )
}
