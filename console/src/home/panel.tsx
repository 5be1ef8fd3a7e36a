import { Group, Paper, Skeleton, Text, Title } from '@mantine/core'
import { IconCircleCheck } from '@tabler/icons-react'
import { type ReactNode, useId } from 'react'
import { formatCompact } from '../page/numbers.ts'
import { Problem } from '../page/states.tsx'
import classes from './home.module.css'

type PanelProps<Item> = {
  title: string
  /** Undefined while they load. */
  items: readonly Item[] | undefined
  /** How many there are, where more exist than are shown. */
  count?: string | undefined
  error: unknown
  retry: () => void
  /** Shown when there is nothing. */
  empty: string
  itemKey: (item: Item) => string
  children: (item: Item) => ReactNode
  /** A link to the whole list. */
  more: ReactNode
}

/** The newest things of a kind that need somebody. */
export function Panel<Item>({ title, items, count, error, retry, empty, itemKey, children, more }: PanelProps<Item>) {
  const id = useId()
  return (
    <Paper component="section" aria-labelledby={id} className={classes.panel}>
      <Group gap={8} align="baseline" mb={4}>
        <Title order={2} id={id}>
          {title}
        </Title>
        {items !== undefined && items.length > 0 && (
          <Text span size="sm" c="dimmed">
            {count ?? formatCompact(items.length)}
          </Text>
        )}
      </Group>
      <PanelBody {...{ title, items, error, retry, empty, itemKey, children }} />
      <Group justify="flex-end" mt="auto">
        {more}
      </Group>
    </Paper>
  )
}

type PanelBodyProps<Item> = Omit<PanelProps<Item>, 'more' | 'count'>

function PanelBody<Item>({ title, items, error, retry, empty, itemKey, children }: PanelBodyProps<Item>) {
  if (items === undefined)
    return error ? (
      <Problem error={error} title={`“${title}” could not be loaded`} retry={retry} />
    ) : (
      <div aria-busy className={classes.items}>
        {Array.from({ length: 4 }, (_, line) => (
          <Skeleton key={line} height={24} my={8} />
        ))}
      </div>
    )
  if (items.length === 0)
    return (
      <Group gap={8} c="dimmed" wrap="nowrap" flex={1} justify="center">
        <IconCircleCheck size={18} aria-hidden />
        <Text size="sm">{empty}</Text>
      </Group>
    )
  return (
    <ul className={classes.items}>
      {items.map((item) => (
        <li key={itemKey(item)} className={classes.item}>
          {children(item)}
        </li>
      ))}
    </ul>
  )
}
