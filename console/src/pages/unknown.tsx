import { hrefOf } from "../lib/store";
import { Link } from "../ui/parts";
import { Empty } from "../ui/panel";
import { Top } from "../ui/shell";

export default function Unknown() {
  return (
    <>
      <Top title="Not a page" ranged={false} />
      <main id="main" tabIndex={-1}>
        <Empty title="There is no page at this address">
          <p><Link href={hrefOf("quality")}>Quality over time</Link>, <Link href={hrefOf("explore")}>the explorer</Link> or{" "}
            <Link href={hrefOf("sql")}>SQL</Link>.</p>
        </Empty>
      </main>
    </>
  );
}
