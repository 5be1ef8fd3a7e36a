import { Button, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { showDeceptive, startOf } from './reported-text.ts'
import { ScrollBox } from './sections.tsx'
import classes from './text-block.module.css'

const LINES = 8
const CHARS = 700

/** Somebody who wants more than this reads the report itself. */
const CHARS_MAX = 50_000

type TextBlockProps = {
  /** What the text is: "Log". */
  label: string
  text: string
  maxHeight?: number
}

/** Text as a machine wrote it, such as a log, in a box of its own. */
export function TextBlock({ label, text, maxHeight = 260 }: TextBlockProps) {
  return (
    <ScrollBox label={label} className={classes.block} mah={maxHeight}>
      <pre dir="ltr">{text}</pre>
    </ScrollBox>
  )
}

type ClampedTextProps = {
  text: string
  /** What it is, for the button: "description". */
  of: string
}

/** A text of a report. A long one shows its start, and a button for the rest. */
export function ClampedText({ text, of }: ClampedTextProps) {
  const [isOpen, setOpen] = useState(false)
  const { start, isAll } = startOf(text, LINES, CHARS)
  const shown = isOpen ? text.slice(0, CHARS_MAX) : start
  return (
    <Stack gap={4} align="flex-start">
      <Text size="sm" component="div" dir="auto" maw="80ch" style={{ whiteSpace: 'pre-wrap' }}>
        {showDeceptive(shown)}
        {!isAll && !isOpen && '…'}
        {isOpen && text.length > CHARS_MAX && '…'}
      </Text>
      {!isAll && (
        <Button
          size="compact-xs"
          variant="subtle"
          aria-expanded={isOpen}
          aria-label={`${isOpen ? 'Show less' : 'Show more'} of the ${of}`}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? 'Show less' : 'Show more'}
        </Button>
      )}
    </Stack>
  )
}
