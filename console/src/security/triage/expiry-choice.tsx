import { Group, Radio, TextInput } from '@mantine/core'

/** When a dismissal ends. `day` is a day of the reader's calendar, for the choice `day`. */
export type Expiry = { choice: 'none' | '30' | '90' | 'day'; day: string }

const CHOICES = [
  { value: 'none', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: 'day', label: 'On a day' },
] as const
const DAY_MS = 86_400_000

/** The time at which a dismissal ends: null for never, undefined if the day is missing or past. */
export function expiryTime({ choice, day }: Expiry, now: number): string | null | undefined {
  if (choice === 'none') return null
  if (choice !== 'day') return new Date(now + Number(choice) * DAY_MS).toISOString()
  const end = new Date(`${day}T23:59:59`)
  return end.getTime() > now ? end.toISOString() : undefined
}

type ExpiryChoiceProps = { expiry: Expiry; onChange: (expiry: Expiry) => void; problem: string | null }

/** Asks when something opens again by itself. */
export function ExpiryChoice({ expiry, onChange, problem }: ExpiryChoiceProps) {
  return (
    <Radio.Group
      label="Opens again"
      error={problem}
      value={expiry.choice}
      onChange={(choice) => onChange({ ...expiry, choice: choice as Expiry['choice'] })}
    >
      <Group gap="md" mt={6}>
        {CHOICES.map(({ value, label }) => (
          <Radio key={value} value={value} label={label} />
        ))}
        {expiry.choice === 'day' && (
          <TextInput
            type="date"
            aria-label="Day"
            size="xs"
            value={expiry.day}
            onChange={({ currentTarget }) => onChange({ ...expiry, day: currentTarget.value })}
          />
        )}
      </Group>
    </Radio.Group>
  )
}
