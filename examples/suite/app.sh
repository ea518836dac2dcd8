# The application under test: one JSON object a line in, one answer a line out.
while read -r item; do
  case "$item" in
    *"kettle?"*) echo '{"output": "A kettle may be returned within 30 days of its delivery and must be unused."}' ;;
    *"pay"*) echo '{"output": "You can pay by card or by bank transfer."}' ;;
    *"delivery"*) echo '{"output": "Delivery takes three days within the country."}' ;;
    *"warranty"*) echo '{"output": "The warranty of every kettle is two years."}' ;;
    *"gift"*) echo '{"output": "Gift wrapping is free for every order."}' ;;
    *) echo '{"error": "I have not learned to answer that"}' ;;
  esac
done
