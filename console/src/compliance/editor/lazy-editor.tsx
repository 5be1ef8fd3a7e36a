import { Group, Skeleton, Stack, Text, UnstyledButton } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck, IconLoader2 } from '@tabler/icons-react'
import { lazyPart } from '../../page/lazy-part.tsx'
import type { FileMistake } from './file-mistakes.ts'
import classes from './lazy-editor.module.css'
import type { PolicyCheck } from './policy-draft.ts'

// The editor is large: it is loaded with the first page that shows a file.
export const CodeEditor = lazyPart(async () => (await import('./code-editor.tsx')).default, {
  waiting: () => <Skeleton height={320} aria-busy />,
})

export const CompareFiles = lazyPart(async () => (await import('./compare-files.tsx')).default, {
  waiting: () => <Skeleton height={240} aria-busy />,
})

const STATES = {
  checking: [IconLoader2, 'neutral', 'Checking'],
  valid: [IconCircleCheck, 'success', 'No problems'],
  invalid: [IconAlertTriangle, 'failure', 'The file is not valid'],
  unchecked: [IconAlertTriangle, 'waiting', 'The server could not check the file. It is checked when you apply it.'],
} as const

type MistakeListProps = { check: PolicyCheck; onOpen: (mistake: FileMistake) => void }

/** What is wrong with the file. Each line moves the cursor there. */
export function MistakeList({ check, onOpen }: MistakeListProps) {
  const { mistakes } = check
  return (
    <Stack gap={4} component="section" aria-label="Problems">
      <CheckState check={check} />
      {mistakes.map((mistake) => (
        <UnstyledButton
          key={`${mistake.line} ${mistake.column} ${mistake.path} ${mistake.message}`}
          onClick={() => onOpen(mistake)}
          className={classes.mistake}
        >
          <Text span size="sm" c="dimmed" className={classes.place}>
            Line {mistake.line}, column {mistake.column}
          </Text>
          <Text span size="sm">
            {mistake.path !== '' && <strong>{mistake.path}</strong>} {mistake.message}
          </Text>
        </UnstyledButton>
      ))}
    </Stack>
  )
}

function CheckState({ check: { mistakes, state } }: { check: PolicyCheck }) {
  const count = mistakes.length
  const [Icon, color, text] =
    count > 0
      ? ([IconAlertTriangle, 'failure', count === 1 ? '1 problem' : `${count} problems`] as const)
      : STATES[state]
  return (
    <Group gap={6} role="status" style={{ color: `var(--shiplock-${color})` }}>
      <Icon size={16} aria-hidden />
      <Text size="sm" fw={500}>
        {text}
      </Text>
    </Group>
  )
}
