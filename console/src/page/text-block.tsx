import { ScrollBox } from './scroll-box.tsx'
import classes from './text-block.module.css'

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
