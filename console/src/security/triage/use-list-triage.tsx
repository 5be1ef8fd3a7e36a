import type { ReactNode } from 'react'
import { useShortcuts } from '../../actions/shortcuts.ts'
import { type RowSelection, useRowSelection } from '../../list/row-selection.ts'
import type { RowAction } from '../../list/use-active-row.ts'
import { SelectionBar } from './selection-bar.tsx'
import type { Target, TargetType } from './targets.ts'
import { useTriage } from './use-triage.tsx'

type ListTriageOptions<Row> = {
  type: TargetType
  rows: Row[] | undefined
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
export function useListTriage<Row>({ type, rows = [], targetOf }: ListTriageOptions<Row>): ListTriage<Row> {
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
          onDismiss={() => act(triage.dismiss)()}
          onReopen={() => act(triage.reopen)()}
        />
      </>
    ),
  }
}
