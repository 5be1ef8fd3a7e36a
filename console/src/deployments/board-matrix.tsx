import { Button, Group, Text } from '@mantine/core'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, useRef, useState } from 'react'
import { ScrollBox } from '../page/scroll-box.tsx'
import classes from './board.module.css'
import type { BoardRow } from './board.ts'
import { BoardPlace } from './board-place.tsx'

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
