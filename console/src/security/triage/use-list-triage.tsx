import { Affix, Button, Group, Kbd, Paper, Text, Transition } from '@mantine/core'
import type { ReactNode } from 'react'
import { useShortcuts } from '../../actions/shortcuts.ts'
import type { CursorList } from '../../list/list-page.ts'
import { type RowAction, type RowSelection, SELECTED_MAX, useRowSelection } from '../../list/rows.ts'
import { formatMatching } from '../../page/numbers.ts'
import type { Target, TargetType } from './targets.ts'
import { useTriage } from './use-triage.tsx'

type ListTriageOptions<Row> = {
  type: TargetType
  list: CursorList<Row>
  targetOf: (row: Row) => Target
}

type ListTriage<Row> = {
  /** Undefined for people who may not triage. */
  selection: RowSelection | undefined
  actions: RowAction<Row>[]
  /** To be rendered by the page. */
  controls: ReactNode
}

/** Triage in a list: of the selected rows, or else of the row that keys act on. */
export function useListTriage<Row>({ type, list, targetOf }: ListTriageOptions<Row>): ListTriage<Row> {
  const { rows = [] } = list
  const triage = useTriage()
  const selection = useRowSelection()
  const targets = (row?: Row) => {
    const selected = rows.map(targetOf).filter(({ id }) => selection.ids.has(id))
    return { type, items: selected.length > 0 ? selected : row === undefined ? [] : [targetOf(row)] }
  }
  const act = (decide: typeof triage.dismiss) => (row?: Row) => {
    const chosen = targets(row)
    if (chosen.items.length > 0) decide(chosen, selection.clear)
  }
  useShortcuts('Triage', triage.isAllowed ? [{ keys: 'u', label: 'Undo the last triage', run: triage.undoLast }] : [])
  if (!triage.isAllowed) return { selection: undefined, actions: [], controls: null }
  return {
    selection,
    actions: [
      { keys: 'd', label: 'Dismiss the row or the selection', run: act(triage.dismiss) },
      { keys: 'e', label: 'Reopen the row or the selection', run: act(triage.reopen) },
      { keys: 'Escape', label: 'Clear the selection', run: selection.clear },
    ],
    controls: (
      <>
        {triage.dialog}
        <SelectionBar
          of={`${type}s`}
          selection={selection}
          more={describeMore(list, `${type}s`, selection)}
          onDismiss={() => act(triage.dismiss)()}
          onReopen={() => act(triage.reopen)()}
        />
      </>
    ),
  }
}

/** What a selection of all loaded rows does not have. */
function describeMore<Row>({ rows, matching, hasMore }: CursorList<Row>, of: string, { ids }: RowSelection) {
  if (!hasMore || rows === undefined || ids.size < Math.min(rows.length, SELECTED_MAX)) return null
  const all = matching === null ? `all ${of}` : formatMatching(matching, of)
  return `Not ${all}: only those that are loaded. Scroll down to load more.`
}

type SelectionBarProps = {
  /** What is selected, in the plural. */
  of: string
  selection: RowSelection
  /** What is not selected, although it may look so. */
  more: string | null
  onDismiss: () => void
  onReopen: () => void
}

/** What can be done with the rows that are selected. */
function SelectionBar({ of, selection, more, onDismiss, onReopen }: SelectionBarProps) {
  const count = selection.ids.size
  return (
    <Affix position={{ bottom: 16, left: 0, right: 0 }} style={{ pointerEvents: 'none' }} withinPortal={false}>
      <Transition mounted={count > 0} transition="slide-up" duration={120}>
        {(styles) => (
          <Paper
            role="region"
            aria-label="Selection"
            shadow="lg"
            p="xs"
            mx="auto"
            w="fit-content"
            maw="calc(100vw - 32px)"
            style={{ ...styles, pointerEvents: 'auto' }}
          >
            <Group gap="xs" justify="center">
              <Text size="sm" fw={500} role="status" px={6}>
                {formatMatching({ count, exact: true }, of)} selected
                {count === SELECTED_MAX && ', which is the most at once'}
                {more && (
                  <Text span size="xs" c="dimmed" display="block" fw={400}>
                    {more}
                  </Text>
                )}
              </Text>
              <Button
                size="xs"
                rightSection={
                  <Kbd size="xs" aria-hidden>
                    d
                  </Kbd>
                }
                aria-keyshortcuts="d"
                onClick={onDismiss}
              >
                Dismiss
              </Button>
              <Button
                size="xs"
                variant="default"
                rightSection={
                  <Kbd size="xs" aria-hidden>
                    e
                  </Kbd>
                }
                aria-keyshortcuts="e"
                onClick={onReopen}
              >
                Reopen
              </Button>
              <Button size="xs" variant="subtle" color="gray" onClick={selection.clear}>
                Clear selection
              </Button>
            </Group>
          </Paper>
        )}
      </Transition>
    </Affix>
  )
}
