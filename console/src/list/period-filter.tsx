import { TextInput } from '@mantine/core'
import type { Period } from './period.ts'

type PeriodFilterProps = { value: Period; onChange: (period: Period) => void }

/** A filter by the days on which something was created. */
export function PeriodFilter({ value: { since, until }, onChange }: PeriodFilterProps) {
  return (
    <>
      <TextInput
        type="date"
        label="From"
        size="xs"
        w={135}
        value={since ?? ''}
        max={until}
        onChange={({ currentTarget }) => onChange({ since: currentTarget.value || undefined, until })}
      />
      <TextInput
        type="date"
        label="To"
        size="xs"
        w={135}
        value={until ?? ''}
        min={since}
        onChange={({ currentTarget }) => onChange({ since, until: currentTarget.value || undefined })}
      />
    </>
  )
}
