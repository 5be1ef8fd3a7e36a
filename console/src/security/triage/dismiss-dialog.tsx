import { Button, Checkbox, Group, Kbd, Modal, Radio, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { type FormEvent, type KeyboardEvent, useState } from 'react'
import { formatCount } from '../../page/numbers.ts'
import { oneLine } from '../../page/reported-text.ts'
import { countTargets, type Targets } from './targets.ts'
import { DISMISS_REASONS, type DismissReason } from './triage-words.ts'

const CHOICES = [
  { value: 'none', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: 'day', label: 'On a day' },
] as const

const DAY_MS = 86_400_000

export type Dismissal = {
  reason: DismissReason
  comment: string
  expiresAt: string | null
  /** What it reaches later: what repeats it, or the vulnerability at any place and version. */
  scope: 'issue' | 'vulnerability'
}

/** What somebody has filled in. */
export type DismissInput = { reason: DismissReason | null; comment: string; expiry: Expiry; isAnywhere: boolean }

const NO_INPUT: DismissInput = { reason: null, comment: '', expiry: { choice: 'none', day: '' }, isAnywhere: false }

type DismissDialogProps = {
  /** Null while the dialog is closed. */
  targets: Targets | null
  /** What was filled in before, if it could not be stored. */
  input?: DismissInput | undefined
  onClose: () => void
  onDismiss: (dismissal: Dismissal, input: DismissInput) => void
}

/** Asks why something is dismissed, and until when. */
export function DismissDialog({ targets, input, onClose, onDismiss }: DismissDialogProps) {
  // The text stays while the dialog fades out.
  const [last, setLast] = useState(targets)
  if (targets !== null && targets !== last) setLast(targets)
  const shown = targets ?? last
  return (
    <Modal
      opened={targets !== null}
      onClose={onClose}
      size="lg"
      title={shown && `Dismiss ${countTargets(shown.type, shown.items.length)}`}
    >
      {shown && <DismissForm targets={shown} input={input} onClose={onClose} onDismiss={onDismiss} />}
    </Modal>
  )
}

function DismissForm({ targets, input = NO_INPUT, onClose, onDismiss }: DismissDialogProps & { targets: Targets }) {
  const [reason, setReason] = useState(input.reason)
  const [comment, setComment] = useState(input.comment)
  const [expiry, setExpiry] = useState(input.expiry)
  const [isAnywhere, setAnywhere] = useState(input.isAnywhere)
  const [problem, setProblem] = useState<string | null>(null)
  const areVulnerabilities = targets.items.every(({ isVulnerability }) => isVulnerability)
  const submit = (event?: FormEvent) => {
    event?.preventDefault()
    if (reason === null) return setProblem('Choose a reason.')
    const expiresAt = expiryTime(expiry, Date.now())
    if (expiresAt === undefined) return setProblem('Choose a day after today.')
    const scope = areVulnerabilities && isAnywhere ? 'vulnerability' : 'issue'
    onDismiss({ reason, comment: comment.trim(), expiresAt, scope }, { reason, comment, expiry, isAnywhere })
  }
  const onKey = (event: KeyboardEvent<HTMLFormElement>) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey || isRadio(event.target))) return submit(event)
    const numbered = DISMISS_REASONS[Number(event.key) - 1]
    if (numbered === undefined || isTextField(event.target)) return
    event.preventDefault()
    setReason(numbered.value)
  }
  return (
    <form onSubmit={submit} onKeyDown={onKey}>
      <Stack>
        <Affected targets={targets} />
        <ReasonChoice reason={reason} onChange={setReason} problem={reason === null ? problem : null} />
        <Textarea
          label="Comment"
          description="Shown to everybody who asks later why this was dismissed."
          maxLength={1000}
          autosize
          minRows={2}
          maxRows={8}
          value={comment}
          onChange={({ currentTarget }) => setComment(currentTarget.value)}
        />
        {areVulnerabilities && (
          <Checkbox
            label="At any place and in any version"
            description="Also dismisses the same vulnerability in the same package of the repository when it is reported elsewhere or in another version, as in a base image."
            checked={isAnywhere}
            onChange={({ currentTarget }) => setAnywhere(currentTarget.checked)}
          />
        )}
        <ExpiryChoice expiry={expiry} onChange={setExpiry} problem={reason === null ? null : problem} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button
            type="submit"
            rightSection={
              <Kbd size="xs" aria-hidden>
                Ctrl ⏎
              </Kbd>
            }
            aria-keyshortcuts="Control+Enter"
          >
            Dismiss
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function Affected({ targets: { type, items, skipped = 0 } }: { targets: Targets }) {
  const findings = items.reduce((sum, item) => sum + item.findings, 0)
  return (
    <Stack gap={2}>
      {items.length === 1 && (
        <Text size="sm" fw={500} lineClamp={2}>
          <bdi>{oneLine(items[0]?.title ?? '', 300)}</bdi>
        </Text>
      )}
      <Text size="sm" c="dimmed">
        {type === 'issue'
          ? `This dismisses ${countTargets(type, items.length)} with ${countTargets('finding', findings)}, and later findings that repeat one of them at its place.`
          : `This dismisses ${formatCount(items.length)} open ${type}${items.length === 1 ? '' : 's'}. Later reports do not reopen ${items.length === 1 ? 'it' : 'them'} while they show the same.`}
        {type === 'alert' && ' The code host is told.'}
        {skipped > 0 &&
          ` ${formatCount(skipped)} of those selected ${skipped === 1 ? 'is' : 'are'} not open, and stay so.`}
      </Text>
    </Stack>
  )
}

type ReasonChoiceProps = {
  reason: DismissReason | null
  onChange: (reason: DismissReason) => void
  problem: string | null
}

function ReasonChoice({ reason, onChange, problem }: ReasonChoiceProps) {
  return (
    <Radio.Group
      label="Reason"
      required
      error={problem}
      value={reason}
      onChange={(value) => onChange(value as DismissReason)}
    >
      <Stack gap="xs" mt={6}>
        {DISMISS_REASONS.map(({ value, label, says }, index) => (
          <Radio
            key={value}
            value={value}
            label={label}
            description={says}
            data-autofocus={index === 0 || undefined}
            aria-keyshortcuts={`${index + 1}`}
          />
        ))}
      </Stack>
    </Radio.Group>
  )
}

function isRadio(target: EventTarget): boolean {
  return target instanceof HTMLInputElement && target.type === 'radio'
}

function isTextField(target: EventTarget): boolean {
  return (
    target instanceof HTMLElement && target.closest('textarea, input:not([type=radio]):not([type=checkbox])') !== null
  )
}

/** When a dismissal ends. `day` is a day of the reader's calendar, for the choice `day`. */
type Expiry = { choice: 'none' | '30' | '90' | 'day'; day: string }

/** The time at which a dismissal ends: null for never, undefined if the day is missing or past. */
function expiryTime({ choice, day }: Expiry, now: number): string | null | undefined {
  if (choice === 'none') return null
  if (choice !== 'day') return new Date(now + Number(choice) * DAY_MS).toISOString()
  const end = new Date(`${day}T23:59:59`)
  return end.getTime() > now ? end.toISOString() : undefined
}

type ExpiryChoiceProps = { expiry: Expiry; onChange: (expiry: Expiry) => void; problem: string | null }

/** Asks when something opens again by itself. */
function ExpiryChoice({ expiry, onChange, problem }: ExpiryChoiceProps) {
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
