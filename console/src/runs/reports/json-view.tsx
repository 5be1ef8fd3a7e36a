import { Button, Stack } from '@mantine/core'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { useState } from 'react'
import { TextBlock } from '../../page/text-block.tsx'

/** Data of no known shape, as JSON that is shown on request. */
export function JsonView({ label, value }: { label: string; value: unknown }) {
  const [isShown, setShown] = useState(false)
  const Chevron = isShown ? IconChevronDown : IconChevronRight
  return (
    <Stack gap="xs" align="stretch">
      <Button
        size="compact-sm"
        variant="subtle"
        color="gray"
        leftSection={<Chevron size={14} aria-hidden />}
        aria-expanded={isShown}
        onClick={() => setShown(!isShown)}
        style={{ alignSelf: 'start' }}
      >
        {label}
      </Button>
      {isShown && <TextBlock label={label} text={JSON.stringify(value, null, 2)} maxHeight={420} />}
    </Stack>
  )
}
