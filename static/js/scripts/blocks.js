// The page's side of blocks and widgets. Classic scripts in the head, because they must listen before the first frame can send a message.
import "../block_host.js";
