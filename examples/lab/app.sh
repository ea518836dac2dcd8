# The application under test: one JSON object a line in, one answer a line out. With the word "short" it is the next
# version, whose prompt was made shorter: it only estimates what is above fifty.
while read -r item; do
  numbers=$(printf '%s' "$item" | sed -n 's/.*What is \([0-9]*\) times \([0-9]*\)?.*/\1 \2/p')
  # shellcheck disable=SC2086 # two words
  set -- "$1" $numbers
  if [ $# -ne 3 ]; then
    echo '{"error": "I only know what one number times another is"}'
    continue
  fi
  product=$(($2 * $3))
  if [ "$1" = short ] && [ "$product" -gt 50 ]; then
    echo "{\"output\": \"about $((product / 10)) tens\"}"
  else
    echo "{\"output\": \"$product\"}"
  fi
  set -- "$1"
done
