import { Select } from '@mantine/core'
import type { Schema } from '../api/client.ts'
import { statusLook } from '../page/badges.tsx'
import { formatTime } from '../page/time.tsx'

type AttemptChoiceProps = {
  attempts: Schema<'PipelineRun'>['attempts']
  value: number
  onChange: (number: number) => void
}

/** Chooses the attempt that the page shows. Nothing if there is only one. */
export function AttemptChoice({ attempts, value, onChange }: AttemptChoiceProps) {
  if (attempts.length < 2) return null
  return (
    <Select
      aria-label="Attempt"
      w={{ base: 300, sm: 340 }}
      allowDeselect={false}
      data={attempts.toReversed().map(({ number, status, started_at }) => ({
        value: String(number),
        label: `Attempt ${number} · ${statusLook(status).label} · ${formatTime(started_at)}`,
      }))}
      value={String(value)}
      onChange={(chosen) => chosen && onChange(Number(chosen))}
    />
  )
}
